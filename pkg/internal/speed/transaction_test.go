package speed

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packages and perPackage make the 30,000 files that npm unpacks.
const packages, perPackage = 30, 1000

// transactions compares a build that makes 30,000 files in a view, whose changes are then listed and kept, with one that
// writes into the work space.
func (f *figures) transactions() {
	for _, need := range []string{"npm", "node"} {
		if _, err := exec.LookPath(need); err != nil {
			f.Logf("transactions: %v", err)
			return
		}
	}
	project := f.TempDir()
	f.project(project)
	build := func(flags ...string) func() took {
		argv := append(append([]string{f.bin("ethos-sandbox"), "run", "--timeout", "10m"}, flags...), "--", "sh", "-c", "npm ci --offline --ignore-scripts --no-audit --no-fund && npm run build")
		return program(f.B, func(cmd *exec.Cmd) {
			// Both directories are new each time: what ext4 takes to find an inode depends on what was made and removed near it before.
			dir := f.TempDir()
			if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
				f.Fatal(err)
			}
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+f.TempDir())
		}, argv...)
	}
	s := inTurn(7, contender{"view", build("--transaction=keep")}, contender{"direct", build()})
	f.add("`npm ci && npm run build`, 30,000 files, in a transaction that is kept, to without", s, "view", "direct", wall, "1.05", "")
	f.add("the same, processor time", s, "view", "direct", processor, "1.05", "")
}

// project is one with packages of its own, so that npm needs no network. Its build reads each file and bundles those of a package.
func (f *figures) project(dir string) {
	dependencies := make([]string, packages)
	for i := range packages {
		name := fmt.Sprintf("p%d.tgz", i)
		if err := pack(filepath.Join(dir, name), i); err != nil {
			f.Fatal(err)
		}
		dependencies[i] = fmt.Sprintf(`"p%d": "file:%s"`, i, name)
	}
	manifest := fmt.Sprintf(`{"name": "build", "version": "1.0.0", "dependencies": {%s}, "scripts": {"build": "node build.js"}}`, strings.Join(dependencies, ", "))
	const script = `const fs = require("fs"), zlib = require("zlib"); fs.mkdirSync("dist")
for (const p of fs.readdirSync("node_modules")) if (p[0] == "p") {
  const modules = fs.readdirSync("node_modules/" + p).map(f => fs.readFileSync("node_modules/" + p + "/" + f, "utf8").replace(/\s+/g, " "))
  fs.writeFileSync("dist/" + p + ".gz", zlib.gzipSync(modules.join("\n")))
}`
	for name, text := range map[string]string{"package.json": manifest, "build.js": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "install", "--package-lock-only", "--offline", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// pack writes a package of files of some kilobytes.
func pack(path string, n int) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer to.Close()
	zipped := gzip.NewWriter(to)
	archive := tar.NewWriter(zipped)
	files := map[string]string{"package.json": fmt.Sprintf(`{"name": "p%d", "version": "1.0.0"}`, n)}
	for i := range perPackage {
		files[fmt.Sprintf("f%d", i)] = strings.Repeat(fmt.Sprintf("line %d of package %d\n", i, n), 20+i%300)
	}
	for name, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
