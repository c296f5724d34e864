package gitargs

import "strings"

// The weights with which git compares a word that is not a command with the commands that it knows;
// help.c, help_unknown_cmd, and levenshtein.c.
const (
	costSubstitute = 2
	costInsert     = 1
	costDelete     = 3
	costFloor      = 7 // help.c, SIMILARITY_FLOOR: above it nothing is similar
)

// corrected records what git would run instead of a word that is not a command: with
// help.autocorrect it runs the most similar command. Which one that is depends on what is
// installed, so every similar command counts.
func (c *call) corrected(name string, args []*string) {
	guess := func(command string) {
		if command != "" && !strings.Contains(command, " ") && similar(name, command) {
			c.out.Runs = append(c.out.Runs, Run{Via: "help.autocorrect", Argv: append(Words("git", command), args...)})
		}
	}
	for _, table := range tables() {
		for i := range table {
			guess(table[i].name)
		}
	}
	c.eachConfig(func(key, _ string) {
		if alias, ok := strings.CutPrefix(key, "alias."); ok && alias != name {
			guess(alias)
		}
	})
}

// similar reports whether git would take the word for the command.
func similar(word, command string) bool {
	return strings.HasPrefix(command, word) || distance(word, command) < costFloor
}

// distance returns the lowest cost of converting word to command. Two swapped letters cost nothing.
func distance(word, command string) int {
	rows := make([][]int, len(word)+1)
	for i := range rows {
		rows[i] = make([]int, len(command)+1)
		for j := range rows[i] {
			switch {
			case i == 0:
				rows[i][j] = j * costInsert
			case j == 0:
				rows[i][j] = i * costDelete
			default:
				rows[i][j] = min(rows[i-1][j-1]+substitute(word[i-1], command[j-1]), rows[i-1][j]+costDelete, rows[i][j-1]+costInsert)
				if i > 1 && j > 1 && word[i-2] == command[j-1] && word[i-1] == command[j-2] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(word)][len(command)]
}

func substitute(a, b byte) int {
	if a == b {
		return 0
	}
	return costSubstitute
}
