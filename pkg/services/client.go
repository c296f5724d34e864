package services

// dialect is the language of a database client: that of its database, and the commands of the client
// itself, which end with their line and need no semicolon.
type dialect struct {
	system string
	script bool // the language is JavaScript
	// escapes: a backslash in a string takes the meaning of the next byte. In standard SQL it is a
	// byte like any other, so that it may be the last one.
	escapes bool
	hash    bool   // "#" begins a comment
	slash   bool   // a backslash begins a command of the client anywhere in a line
	mark    string // bytes of which one at the beginning of a line begins a command of the client
	own     string // words that do so at the beginning of a statement, in small letters
	ends    string // a line that consists of this word ends a statement
}

// The commands of clients: psql(1) "Meta-Commands", mysql(1) "mysql Client Commands", "Command Line
// Shell For SQLite", sqlcmd "Sqlcmd commands", SQL*Plus "Command Reference", cqlsh "Special Commands",
// beeline "Beeline Commands".
var (
	postgresql = dialect{system: "postgresql", slash: true}
	mysql      = dialect{system: "mysql", slash: true, escapes: true, hash: true, own: " charset connect delimiter edit help nopager notee nowarning pager print prompt rehash resetconnection source status system tee use warnings "}
	sqlite     = dialect{system: "sqlite", mark: "."}
	duckdb     = dialect{system: "duckdb", mark: "."}
	sqlserver  = dialect{system: "sqlserver", mark: ":!", own: " use ", ends: "go"}
	oracle     = dialect{system: "oracle", mark: "@!", ends: "/", own: " accept archive break btitle clear column compute conn connect define describe exec execute host password pause print prompt remark repfooter repheader set show spool start store timing ttitle undefine variable whenever "}
	clickhouse = dialect{system: "clickhouse", escapes: true, hash: true}
	cassandra  = dialect{system: "cassandra", own: " capture clear consistency cls debug desc describe expand help login paging serial show source tracing unicode "}
	warehouse  = dialect{system: "warehouse", escapes: true, mark: "!", own: " use set "}
	bigquery   = dialect{system: "bigquery", escapes: true, hash: true}
	mongodb    = dialect{system: "mongodb", script: true, escapes: true}
)

// client is a program that takes statements in options, or in its words after a number of them.
type client struct {
	dialect dialect
	options []string
	after   int // words before the first statement; -1 if no word is one
}

func clientNamed(name string) (client, bool) {
	switch name {
	case "psql", "pgcli", "usql", "cockroach":
		return client{postgresql, []string{"-c", "--command", "-e", "--execute"}, -1}, true
	case "mysql", "mariadb", "mycli", "tidb":
		return client{mysql, []string{"-e", "--execute"}, -1}, true
	case "sqlite3", "sqlite", "litecli", "sqlite-utils", "turso":
		return client{sqlite, []string{"-cmd"}, 1}, true
	case "duckdb":
		return client{duckdb, []string{"-c", "-s", "-cmd"}, 1}, true
	case "sqlcmd", "mssql-cli":
		return client{sqlserver, []string{"-Q", "-q"}, -1}, true
	case "sqlplus":
		return client{oracle, nil, -1}, true
	case "clickhouse-client", "clickhouse":
		return client{clickhouse, []string{"-q", "--query"}, -1}, true
	case "cqlsh":
		return client{cassandra, []string{"-e", "--execute"}, -1}, true
	case "snowsql", "trino", "presto", "hive", "beeline", "impala-shell", "spark-sql":
		return client{warehouse, []string{"-q", "-e", "--query", "--execute"}, -1}, true
	case "bq":
		return client{bigquery, nil, 1}, true
	case "mongosh", "mongo":
		return client{mongodb, []string{"--eval"}, 1}, true
	}
	return client{}, false
}
