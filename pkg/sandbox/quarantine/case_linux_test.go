package quarantine

import "testing"

// TestCase holds that CONFIG is judged as config is: on a file system that does
// not tell upper case from lower, git reads it.
func TestCase(t *testing.T) {
	w := newWorkspace(t)
	w.finds(w.after(`git init -q n; printf '[core]\n\tfsmonitor = ./evil\n' > n/.git/CONFIG; mkdir n/.git/HOOKS; echo evil > n/.git/HOOKS/post-checkout; echo x > n/.git/CUSTOM_HEAD`), "n/.git/CONFIG", "n/.git/HOOKS/post-checkout")
}
