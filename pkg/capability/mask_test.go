package capability

import "testing"

func TestMaskText(t *testing.T) {
	for text, want := range map[string][2]string{
		".env=.env.example": {".env", ".env.example"}, ".env=": {".env", ""}, `a\=b=c=d`: {"a=b", "c=d"}, `a\=b`: {}, "=x": {}, "x": {}, "": {},
	} {
		file, fake, err := Mask(text)
		if (err != nil) != (want[0] == "") || err == nil && (file != want[0] || fake != want[1]) {
			t.Errorf("%q: %q %q %v", text, file, fake, err)
		}
	}
	if file, fake, err := Mask(absoluteMask("/w=/x", `a\=b=c`)); err != nil || file != "/w=/x/a=b" || fake != "/w=/x/c" {
		t.Errorf("%q %q %v", file, fake, err)
	}
}
