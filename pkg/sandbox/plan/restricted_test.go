package plan

import (
	"io/fs"
	"strings"
	"testing"
)

func TestRestricted(t *testing.T) {
	const clone, most, apparmor, self = "/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/self/attr/current"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // what the setting begins with
		hint  string
	}{
		"a plain kernel":         {map[string]string{most: "95000\n"}, "", ""},
		"nothing to be read":     {nil, "", ""},
		"Debian, on":             {map[string]string{clone: "1\n", most: "95000\n"}, "", ""},
		"Debian, off":            {map[string]string{clone: "0\n", most: "95000\n"}, "kernel.unprivileged_userns_clone=0", "sysctl kernel.unprivileged_userns_clone=1"},
		"RHEL 7":                 {map[string]string{most: "0\n"}, "user.max_user_namespaces=0", "sysctl user.max_user_namespaces"},
		"Ubuntu":                 {map[string]string{most: "95000\n", apparmor: "1\n", self: "unconfined\n"}, "kernel.apparmor_restrict_unprivileged_userns=1", "packaging/apparmor/ethos-sandbox"},
		"Ubuntu, another's":      {map[string]string{apparmor: "1\n", self: "ethos-sandbox-old (enforce)\n"}, "kernel.apparmor_restrict_unprivileged_userns=1", "apparmor_parser -r"},
		"Ubuntu, no attribute":   {map[string]string{apparmor: "1\n"}, "kernel.apparmor_restrict_unprivileged_userns=1", "/etc/apparmor.d"},
		"Ubuntu, with profile":   {map[string]string{most: "95000\n", apparmor: "1\n", self: "ethos-sandbox (unconfined)\n"}, "", ""},
		"Ubuntu, switched off":   {map[string]string{apparmor: "0\n", self: "unconfined\n"}, "", ""},
		"a value of nobody's":    {map[string]string{most: "many\n", apparmor: "\n"}, "", ""},
		"two: the one to be met": {map[string]string{clone: "0\n", apparmor: "1\n"}, "kernel.unprivileged_userns_clone=0", "sysctl"},
	} {
		setting, hint := Restricted(func(path string) ([]byte, error) {
			text, ok := c.files[path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		})
		if setting != c.want || !strings.Contains(hint, c.hint) || (setting == "") != (hint == "") {
			t.Errorf("%s: %q, %q", name, setting, hint)
		}
	}
}
