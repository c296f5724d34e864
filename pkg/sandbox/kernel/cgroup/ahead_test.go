package cgroup

import "testing"

// TestAhead: what was read ahead is given out once; then the files are read.
func TestAhead(t *testing.T) {
	k := newKernel(0, "")
	files := Ahead(k)
	read := func() string {
		text, err := files.ReadFile(mountTable)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	<-files.(*ahead).texts[mountTable].ended
	before := k.proc[mountTable]
	k.proc[mountTable] = "after"
	if got := read(); got != before {
		t.Errorf("first %q, not %q", got, before)
	}
	if got := read(); got != "after" {
		t.Errorf("then %q", got)
	}
	if _, err := files.ReadFile("/proc/self/elsewhere"); err == nil {
		t.Error("a file that is not there was read")
	}
}
