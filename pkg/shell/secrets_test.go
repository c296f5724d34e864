package shell

import (
	"strings"
	"testing"
)

// TestShown: which secrets of the environment a script shows, in the order of its commands.
func TestShown(t *testing.T) {
	for script, want := range map[string]string{
		`echo $A_TOKEN`:                                       "A_TOKEN",
		`echo "$A_TOKEN$B_SECRET" "$C_API_KEY"`:               "A_TOKEN C_API_KEY",
		`echo "$A_TOKEN2"`:                                    "A_TOKEN2",
		`echo "$A_TOKEN_FILE $TOKENS $token"`:                 "",
		`echo '$A_TOKEN' \$A_TOKEN`:                           "",
		`A_TOKEN=x; echo "$A_TOKEN"`:                          "",
		`A_TOKEN=$(make token); echo "$A_TOKEN"`:              "A_TOKEN",
		`X=$A_TOKEN; Y=a$X; echo "$Y"`:                        "A_TOKEN",
		`X=$A_TOKEN; X=y; echo "$X"`:                          "",
		`if a; then X=$A_TOKEN; else X=y; fi; echo "$X"`:      "A_TOKEN",
		`X=A_TOKEN; echo "${!X}" "${X}"`:                      "A_TOKEN",
		`echo ${#A_TOKEN} ${A_TOKEN:+x} ${A_TOKEN+x}`:         "",
		`echo ${A_TOKEN:-x}`:                                  "A_TOKEN",
		`echo ${X:-$A_TOKEN}`:                                 "A_TOKEN",
		`echo ${X:+$A_TOKEN}`:                                 "A_TOKEN",
		`echo ${A_TOKEN:0:4} ${A_TOKEN:0:n}`:                  "A_TOKEN",
		`echo ${A_TOKEN:0:4}`:                                 "",
		`echo ${A_TOKEN:1:4}`:                                 "A_TOKEN",
		`echo ${A_TOKEN:0:-4}`:                                "A_TOKEN",
		`echo "$A_TOKEN" > f`:                                 "",
		`echo "$A_TOKEN" >> "$F"`:                             "",
		`echo "$A_TOKEN" &> f`:                                "",
		`echo "$A_TOKEN" 2> f`:                                "A_TOKEN",
		`echo "$A_TOKEN" > f >&2`:                             "A_TOKEN",
		`echo "$A_TOKEN" > /dev/tty`:                          "A_TOKEN",
		`echo "$A_TOKEN" > /dev/null`:                         "",
		`{ echo "$A_TOKEN"; } > f`:                            "",
		`{ echo "$A_TOKEN" | rev; } | base64`:                 "A_TOKEN",
		`{ echo "$A_TOKEN" | rev; } | base64 > f`:             "",
		`echo "$A_TOKEN" | rev > f | cat`:                     "",
		`echo "$A_TOKEN" | docker login --password-stdin`:     "",
		`X=$(echo "$A_TOKEN")`:                                "",
		`X=$(echo "$A_TOKEN"); echo "$X"`:                     "A_TOKEN",
		`p() { echo "$1"; }; p "$X"; p "$A_TOKEN"`:            "A_TOKEN",
		`p() { echo "$2"; }; p "$A_TOKEN" "$X"`:               "",
		`p() { echo "${10}"; }; p 1 2 3 4 5 6 7 8 9 $A_TOKEN`: "A_TOKEN",
		`for i in x "$A_TOKEN"; do echo "$i"; done`:           "A_TOKEN",
		`sh -c "echo $A_TOKEN"`:                               "A_TOKEN",
		`sudo -u x env printf %s "$A_TOKEN"`:                  "A_TOKEN",
		"cat <<E\n$A_TOKEN\nE":                                "A_TOKEN",
		"cat <<'E'\n$A_TOKEN\nE":                              "",
		"cat <<E > f\n$A_TOKEN\nE":                            "",
		"cat <<-E\n\t$A_TOKEN\nE":                             "A_TOKEN",
		`wc -c <<< "$A_TOKEN"`:                                "",
		`rev <<< "$A_TOKEN"`:                                  "A_TOKEN",
		`envsubst <<< '${A_TOKEN}'`:                           "A_TOKEN",
		`envsubst <<< '${A_TOKEN}' > f`:                       "",
		`declare -p PATH A_TOKEN`:                             "A_TOKEN",
		`declare A_TOKEN`:                                     "",
		`git commit -m "$A_TOKEN" > f`:                        "A_TOKEN",
		`git -c a.b="$A_TOKEN" commit -m x`:                   "",
		`git push https://x:$A_TOKEN@localhost/x tag v1`:      "",
		`curl -H "a: $A_TOKEN" http://localhost/`:             "",
		`test -n "$A_TOKEN" && echo set`:                      "",
	} {
		var got []string
		for _, s := range Analyze(script, Options{}).Shown {
			got = append(got, s.Variables...)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", script, text, want)
		}
	}
}
