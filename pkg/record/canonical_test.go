package record

import (
	"strings"
	"testing"
)

// The vectors are RFC 8785 section 3.2.2 and 3.2.3 and appendix B, and the integers it leaves to I-JSON.
func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`},
		{`[-0, 0.0, 1e21, 1e20, 9007199254740992, 9007199254740993, -9007199254740993, 1e-7, 1e-6, 5e-324, 1.7976931348623157e308]`,
			`[0,0,1e+21,100000000000000000000,9007199254740992,9007199254740993,-9007199254740993,1e-7,0.000001,5e-324,1.7976931348623157e+308]`},
		{" { \"b\" : [ ] , \"a\" : { } } ", `{"a":{},"b":[]}`},
	} {
		got, err := Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{`1e400`, `{"a":1,"\u0061":2}`, `[1,]`, "\"\xff\"", `"\udc00"`, ``} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("%q: got %s", in, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{sample, `{"a":[1,2.5e10,-0]}`, `"\ud83d\ude00"`, `[[[]]]`, strings.Repeat("[", 200)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := Canonical(text)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("not stable: %s → %s, %v", once, twice, err)
		}
	})
}
