package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestAppArmorProfile installs the profile as for a package, and has AppArmor's own parser read it. One older than 4.0 does not know user namespaces: it reads the profile without that rule, and only
// the rest is checked.
func TestAppArmorProfile(t *testing.T) {
	const parser = "/usr/sbin/apparmor_parser"
	probetest.NeedFunc(t, "command:apparmor_parser", func() string {
		if _, err := os.Stat(parser); err != nil {
			return err.Error()
		}
		return ""
	})
	probetest.Need(t, "command:make")
	dest := t.TempDir()
	cmd := exec.Command("make", "install-apparmor", "DESTDIR="+dest, "PREFIX=/opt/ethos")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dest, "etc/apparmor.d/ethos-sandbox"))
	if err != nil {
		t.Fatal(err)
	}
	profile := string(text)
	for _, want := range []string{"abi <abi/4.0>,\n", "profile ethos-sandbox /opt/ethos/bin/ethos-{sandbox,egress} flags=(unconfined) {\n", "  userns,\n"} {
		if !strings.Contains(profile, want) {
			t.Errorf("the profile has no %q", want)
		}
	}
	if _, err := os.Stat("/etc/apparmor.d/abi/4.0"); err != nil {
		t.Log("the parser is older than AppArmor 4.0: the rule for user namespaces is left out")
		profile = strings.NewReplacer("abi/4.0", "abi/3.0", "  userns,\n", "").Replace(profile)
	}
	good, bad := filepath.Join(t.TempDir(), "profile"), filepath.Join(t.TempDir(), "broken")
	for file, text := range map[string]string{good: profile, bad: strings.Replace(profile, "\n}", "\n", 1)} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(parser, "-Q", "-K", good).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command(parser, "-Q", "-K", bad).CombinedOutput(); err == nil {
		t.Errorf("a profile without its end is read too: %s", out)
	}
}
