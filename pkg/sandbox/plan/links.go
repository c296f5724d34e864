package plan

import (
	"io/fs"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// linkMounts returns the symbolic links in the declared paths, so that each path also
// exists under the name by which it was declared: ~/src, a link to /data/src, or
// ~/.gitconfig, a link into a directory of settings. A link gives no access beyond the
// table. A link in a host tree that is shown is already there; one in a denied tree is left
// out.
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
			list = append(list, mount.Mount{Kind: mount.Symlink, Target: link, Source: content, Why: "link to a declared path"})
		}
	}
	return list
}
