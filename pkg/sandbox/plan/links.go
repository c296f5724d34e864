package plan

import (
	"io/fs"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// linkMounts are the symbolic links by which the paths of the plan are named, so
// that a path is there under the name it was declared by: ~/src, a link to
// /data/src, and ~/.gitconfig, a link into a directory of settings. They lead to
// what the table shows, and nowhere else. One that lies in a tree of the host is
// there already; one in a denied tree stays away.
func (b *builder) linkMounts(entries []Entry) (list []mount.Mount) {
	links := slices.Clone(b.named)
	for _, r := range b.rules {
		if r.class == grantRead || r.class == grantWrite || r.class == allowWithinDeny {
			links = append(links, r.links...)
		}
	}
	slices.Sort(links)
	for _, link := range slices.Compact(links) {
		if above := Covering(entries, link); above.Access != Private && above.Path != "/" {
			continue
		}
		info, err := b.files.lstat(link)
		if err != nil || info == nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if content, err := b.files.files.Readlink(link); err == nil {
			list = append(list, mount.Mount{Kind: mount.Symlink, Target: link, Source: content, Why: "a name of what is declared"})
		}
	}
	return list
}
