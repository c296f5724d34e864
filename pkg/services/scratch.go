package services

import "strings"

// plainOptions are the options of sqlite3 that take no argument and open no file.
const plainOptions = " ascii bail batch box column csv echo header html json line list markdown noheader quote readonly safe stats table tabs "

// scratch reports whether a call of sqlite3 works only on a database in memory, or in a file of no
// value. Its statements must attach no other one, and no command of its own may open one.
func scratch(argv []*string, texts []string, worthless func(file string) bool) bool {
	file := ""
	for i, w := range argv {
		switch {
		case w == nil:
			return false
		case strings.HasPrefix(*w, "-") && !strings.Contains(plainOptions, " "+strings.TrimLeft(*w, "-")+" "):
			return false
		case !strings.HasPrefix(*w, "-") && file == "":
			if file = *w; file == "" || i+1 == len(argv) && len(texts) == 0 {
				return false
			}
		}
	}
	for _, text := range texts {
		if has(lex(text, sqlite), "attach") || strings.HasPrefix(strings.TrimSpace(text), ".") || strings.Contains(text, "\n.") {
			return false
		}
	}
	return file == ":memory:" || worthless != nil && worthless(file)
}

// temporaries follows the temporary tables that a transaction of PostgreSQL has created. In a
// transaction, nothing runs after a statement that has failed, so that a name is that of the
// temporary table; elsewhere it may be that of another one.
type temporaries struct {
	open  bool
	names []string
}

// kept are the statements after which a name still means the same table.
const kept = " CREATE INSERT SELECT UPDATE DELETE DROP TRUNCATE ANALYZE EXPLAIN COPY VALUES WITH "

// drops reports whether a statement drops only temporary tables.
func (t *temporaries) drops(s []token) bool {
	if len(s) == 0 {
		return false
	}
	switch first := strings.ToUpper(s[0].text); {
	case s[0].is("begin") && len(s) == 1 || s[0].is("begin") && len(s) == 2 && (s[1].is("transaction") || s[1].is("work")):
		*t = temporaries{open: true}
	case s[0].quoted || !strings.Contains(kept, " "+first+" ") || has(s, "set_config"):
		*t = temporaries{}
	case t.open && first == "CREATE":
		t.create(s[1:])
	case t.open && first == "DROP":
		return t.drop(s[1:])
	}
	return false
}

// create notes the table of CREATE TEMP TABLE.
func (t *temporaries) create(s []token) {
	if len(s) < 3 || !s[0].is("temp") && !s[0].is("temporary") || !s[1].is("table") {
		return
	}
	s = s[2:]
	if len(s) > 3 && s[0].is("if") && s[1].is("not") && s[2].is("exists") {
		s = s[3:]
	}
	if !s[0].quoted && isWord(s[0].text) {
		t.names = append(t.names, strings.ToLower(s[0].text))
	}
}

// drop reports whether DROP TABLE names only temporary tables. A name means another table after it.
func (t *temporaries) drop(s []token) bool {
	if len(s) < 2 || !s[0].is("table") {
		return false
	}
	s = s[1:]
	if len(s) > 2 && s[0].is("if") && s[1].is("exists") {
		s = s[2:]
	}
	for i := 0; i < len(s); i += 2 {
		at := -1
		for n, name := range t.names {
			if !s[i].quoted && strings.EqualFold(name, s[i].text) {
				at = n
			}
		}
		if at < 0 || i+1 < len(s) && !s[i+1].is(",") {
			return false
		}
		t.names = append(t.names[:at:at], t.names[at+1:]...)
	}
	return len(s)%2 == 1
}

// rollsBack reports whether words or a text may set the variable with which psql goes on in a
// transaction after a failure, or have commands of psql, which may connect elsewhere, or parts that
// are known only when they run.
func rollsBack(argv []*string, text string) bool {
	for _, w := range argv {
		if w == nil || strings.Contains(*w, "ON_ERROR_ROLLBACK") {
			return true
		}
	}
	return strings.ContainsAny(text, "\\$`")
}
