package services

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// run is a command as the analysis of a shell would give it: words with a blank
// between them, "?" for one that is not static, "_" for a blank in a word, "·" for "_".
func run(text, code string) *record.Command {
	fields := strings.Fields(text)
	c := &record.Command{Name: fields[0], Code: code}
	for _, f := range fields {
		w := strings.NewReplacer("_", " ", "·", "_").Replace(f)
		if c.Argv = append(c.Argv, &w); f == "?" {
			c.Argv[len(c.Argv)-1] = nil
		}
	}
	return c
}

func effects(found []record.Service) (all []string) {
	for _, f := range found {
		all = append(all, f.Effect)
	}
	return all
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"kubectl delete pod x":                                       "destroy",
		"kubectl -n a --context b delete pod x":                      "destroy",
		"kubectl --v 5 delete pod x":                                 "destroy",
		"kubectl get pods delete":                                    "",
		"kubectl delete pod x --dry-run=client":                      "",
		"kubectl delete pod x --dry-run=none":                        "destroy",
		"kubectl ? pod x":                                            "",
		"aws --region r s3 rm s3://b":                                "destroy",
		"aws s3 sync a s3://b":                                       "",
		"aws s3 sync a s3://b --delete":                              "destroy",
		"aws ec2 describe-instances":                                 "",
		"aws help":                                                   "",
		"docker compose -f a.yml down -v":                            "destroy",
		"docker compose down":                                        "",
		"docker system prune -fa":                                    "destroy",
		"docker system df":                                           "",
		"gh api -XDELETE repos/o/r":                                  "destroy",
		"gh api --method=DELETE repos/o/r":                           "destroy",
		"gh api repos/o/r":                                           "",
		"npm publish":                                                "publish",
		"npm run publish":                                            "",
		"npm --silent run unpublish":                                 "",
		"psql -c DROP_TABLE_a":                                       "destroy",
		"psql -cDROP_TABLE_a":                                        "destroy",
		"psql --command=DROP_INDEX_a":                                "remove",
		"psql -c SELECT_'drop_table_a'":                              "",
		"psql -c DELETE_FROM_a_WHERE_b=1":                            "",
		"psql -c DELETE_FROM_a_WHERE_1=1":                            "destroy",
		"psql -c EXPLAIN_DELETE_FROM_a":                              "",
		"psql -c EXPLAIN_ANALYZE_DELETE_FROM_a":                      "destroy",
		"psql -c WITH_x_AS_(SELECT_1)_DELETE_FROM_a":                 "destroy",
		"psql -c $$drop_table_a$$":                                   "",
		"psql -c --_drop_table_a":                                    "",
		"mysql -e /*!50000_DROP_TABLE_a_*/":                          "destroy",
		"mysql -e /*_DROP_TABLE_a_*/":                                "",
		"mysql -e UPDATE_a_SET_b=1":                                  "destroy",
		"sqlite3 a.db drop_table_b":                                  "destroy",
		"sqlite3 drop_table_b":                                       "",
		"mongosh --eval db.a.drop()":                                 "destroy",
		"mongosh --eval '.drop()'":                                   "",
		"mongosh --eval db.a.deleteMany({b:1})":                      "",
		"redis-cli -n 2 FLUSHDB":                                     "destroy",
		"redis-cli GET FLUSHDB":                                      "",
		"curl -X DELETE http://localhost:9200/a":                     "destroy",
		"curl -XDELETE localhost:9200/a":                             "destroy",
		"curl -X DELETE http://localhost:3000/a":                     "",
		"curl -X DELETE https://api.example.com/a":                   "destroy",
		"curl -X POST http://127.0.0.1:9200/a/_delete_by_query -d x": "destroy",
		"curl http://localhost:9200/delete":                          "",
		"http DELETE :7700/indexes/a":                                "destroy",
		"http :7700/health":                                          "",
		"java -jar lib/jenkins-cli.jar -s u delete-job j":            "destroy",
		"php artisan migrate:fresh":                                  "destroy",
		"php artisan migrate":                                        "",
		"python3 manage.py flush --no-input":                         "destroy",
		"python3 -m twine upload dist/a":                             "publish",
		"vault kv get secret/a":                                      "reveal",
		"ls delete":                                                  "",
		"kubectl get secret a -o name":                               "",
		"kubectl get secret a -o yaml":                               "reveal",
		"kubectl get secret a -o ?":                                  "reveal",
		"kubectl get secret a -o":                                    "reveal",
		"kubectl get secret -Aoyaml":                                 "reveal",
		"kubectl get secret -Aoname":                                 "",
		"kubectl get secret -Ao wide":                                "",
		"kubectl get secret -o name -o json":                         "reveal",
		"kubectl get secret --output=jsonpath={.type}":               "",
		"kubectl get secret -ojsonpath={.metadata.labels}":           "",
		"kubectl get secret -o jsonpath={.metadata.annotations}":     "reveal",
		"kubectl get secret -o jsonpath={.metadata.name}{.data.a}":   "reveal",
		"kubectl get secret -o jsonpath={range_.items[*]}{.metadata.name}{'\\n'}{end}":  "",
		"kubectl get secret -o jsonpath={range_.items[*]}{.data}{end}":                  "reveal",
		"kubectl get secret -o jsonpath={.metadata.name}{":                              "reveal",
		"kubectl get secret -o jsonpath={..data}":                                       "reveal",
		"kubectl get secret -o jsonpath={.metadata.name.{.data}}":                       "reveal",
		"kubectl get secret -o jsonpath-as-json={.type}":                                "reveal",
		"kubectl get secret -o go-template={{.metadata.name}}":                          "",
		"kubectl get secret -o go-template={{.data}}":                                   "reveal",
		"kubectl get secret -o go-template={{.metadata.name}}{{with_.data}}{{end}}":     "reveal",
		"kubectl get secret -o custom-columns=NAME:.metadata.name,T:.type":              "",
		"kubectl get secret -o custom-columns=NAME:.metadata.name,D:.data":              "reveal",
		"kubectl get secret -o custom-columns-file=x":                                   "reveal",
		"kubectl get secret --template {{.metadata.name}}":                              "reveal",
		"kubectl get secrets,cm -o yaml":                                                "reveal",
		"kubectl get cm,secret.v1 -o yaml":                                              "reveal",
		"kubectl get cm/a secret/b -o yaml":                                             "reveal",
		"kubectl get SECRET a -o yaml":                                                  "reveal",
		"kubectl get secretstores -o yaml":                                              "",
		"kubectl get pod secret -o yaml":                                                "",
		"aws --endpoint-url http://localhost:4566 s3 rm s3://b/x":                       "",
		"aws --endpoint-url=http://127.0.0.1:4566 sqs purge-queue":                      "",
		"aws --endpoint-url http://localhost:4566 --endpoint https://a.example s3 rm x": "destroy",
		"aws --endpoint-url http://localhost.example s3 rm s3://b/x":                    "destroy",
		"aws --endpoint-url ? s3 rm s3://b/x":                                           "destroy",
		"aws --endpoint-url http://localhost:4566 s3 mv . s3://b --recursive":           "destroy",
		"aws --endpoint-url http://localhost:4566 configure export-credentials":         "reveal",
		"terraform output -json":                                                        "reveal",
		"terraform output -json vpc_id":                                                 "",
		"terraform output -raw db_password":                                             "reveal",
		"terraform output -raw vpc_id":                                                  "",
		"terraform output":                                                              "",
	} {
		if got := strings.Join(effects(Find(run(text, ""), nil)), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTyped(t *testing.T) {
	for code, want := range map[string]string{"GET a\nFLUSHALL\n": "destroy", "GET FLUSHALL": ""} {
		if got := strings.Join(effects(Find(run("redis-cli", code), nil)), " "); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
	found := Find(run("psql", "\\c shop\nSELECT 1;\nDROP TABLE IF EXISTS users;\n"), nil)
	if len(found) != 1 || found[0].Operation != "DROP TABLE" || found[0].Target != "users" || found[0].System != "postgresql" {
		t.Errorf("%+v", found)
	}
}

// TestClientCommands: a command of a client ends with its line, so that it hides no statement after it.
func TestClientCommands(t *testing.T) {
	for _, c := range []struct {
		program, code string
		want          int // statements that destroy
	}{
		{"psql", "\\c prod\nDROP DATABASE x;", 1},
		{"psql", "  \\connect prod me\nDROP DATABASE x;", 1},
		{"psql", "\\echo don't\nDROP TABLE x;", 1},
		{"psql", "\\set a b \\\\ DROP TABLE x;", 1},
		{"psql", "\\timing \\c prod\nDROP TABLE x;", 1},
		{"psql", "select 1 \\g\nDROP TABLE x", 1},
		{"psql", "select 1 \\gx out\nDROP TABLE x \\g", 1},
		{"psql", "select 1 \\; DROP TABLE x", 1},
		{"psql", "select 1 \\watch 2\nDROP TABLE x;", 1},
		{"psql", "DROP \\echo x\n TABLE x;", 1},
		{"psql", "select 'a\\'; DROP TABLE x; --'", 1},
		{"psql", "select E'a\\'; DROP TABLE x; --'", 0},
		{"psql", "select 1 # 2; DROP TABLE x;", 1},
		{"psql", "\\echo DROP TABLE x;\nselect 1", 0},
		{"psql", "select '\\c prod\nDROP TABLE x'", 0},
		{"psql", "\\copy t from 'x.csv' csv\nselect 1;", 0},
		{"mysql", "use prod\nDROP DATABASE x;", 1},
		{"mysql", "use prod; DROP DATABASE x;", 1},
		{"mysql", "\\u prod\nDROP DATABASE x;", 1},
		{"mysql", "select 1\\G DROP TABLE x;", 1},
		{"mysql", "delimiter //\nselect 1//\nDROP TABLE x//", 1},
		{"mysql", "select 1 # DROP TABLE x;\n;", 0},
		{"mysql", "select 'a\\'; DROP TABLE x; --'", 0},
		{"mysql", "create table t (\nuse int);", 0},
		{"sqlite3 a.db", ".headers on\nDROP TABLE x;", 1},
		{"sqlite3 a.db", ".print don't\nDROP TABLE x;", 1},
		{"sqlite3 a.db", "select 1\n.5; select 2;", 0},
		{"duckdb a.db", ".mode csv\nDROP TABLE x;", 1},
		{"sqlcmd", "select 1\nGO\nDROP DATABASE x\nGO", 1},
		{"sqlcmd", "USE prod\nDROP DATABASE x\ngo 2", 1},
		{"sqlcmd", ":setvar a b\nDROP DATABASE x", 1},
		{"sqlplus", "set echo off\nDROP TABLE x;", 1},
		{"sqlplus", "select 1 from dual\n/\nDROP TABLE x\n/", 1},
		{"cqlsh", "CONSISTENCY ALL\nDROP KEYSPACE x;", 1},
		{"beeline", "!connect jdbc:hive2://h\nDROP TABLE x;", 1},
		{"clickhouse-client", "select 'a\\'; DROP TABLE x; --'", 0},
	} {
		got := 0
		for _, s := range Find(run(c.program, c.code), nil) {
			if s.Effect == Destroy {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s %q: %d statements destroy, want %d", c.program, c.code, got, c.want)
		}
	}
}

func TestScratch(t *testing.T) {
	for text, want := range map[string]string{
		"sqlite3 :memory: drop_table_x":                                                         "",
		"sqlite3 -batch :memory: drop_table_x":                                                  "",
		"sqlite3 /tmp/t.db drop_table_if_exists_a":                                              "",
		"sqlite3 app.db drop_table_x":                                                           "destroy",
		"sqlite3 -separator :memory: app.db drop_table_x":                                       "destroy",
		"sqlite3 :memory: attach_'app.db'_as_a;_drop_table_a.x":                                 "destroy",
		"sqlite3 :memory: -cmd .open_app.db drop_table_x":                                       "destroy",
		"sqlite3 :memory: .open_app.db drop_table_x":                                            "destroy",
		"sqlite3 -init x.sql :memory: drop_table_x":                                             "destroy",
		"sqlite3 ? :memory: drop_table_x":                                                       "destroy",
		"psql -c begin;create_temp_table_t(x_int);drop_table_t":                                 "",
		"psql -c begin;create_temp_table_t(x_int);drop_table_t,u":                               "destroy",
		"psql -c begin;create_temp_table_t(x_int);drop_table_s.t":                               "destroy",
		"psql -c create_temp_table_t(x_int);drop_table_t":                                       "destroy",
		"psql -c begin;create_table_t(x_int);drop_table_t":                                      "destroy",
		"mysql -e begin;create_temporary_table_t(x_int);drop_table_t":                           "destroy",
		"psql -v ON·ERROR·ROLLBACK=on -c begin;create_temp_table_t(x_int);drop_table_t":         "destroy",
		"psql -c begin;create_temp_table_t(x_int);drop_table_if_exists_t;drop_table_t":          "destroy",
		"psql -c begin;create_temp_table_t(x_int);rollback;drop_table_t":                        "destroy",
		"psql -c begin;create_temp_table_t(x_int);alter_table_t_rename_to_u;drop_table_t":       "destroy",
		"psql -c begin;create_temp_table_t(x_int);select_set·config('a','b',true);drop_table_t": "destroy",
		"psql -c begin;create_temp_table_t(x_int);set_search_path=public,pg_temp;drop_table_t":  "destroy",
	} {
		c := run(text, "")
		if got := strings.Join(effects(Find(c, func(file string) bool { return strings.HasPrefix(file, "/tmp/") })), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	code := "BEGIN;\nCREATE TEMP TABLE t(x int);\nDROP TABLE t;\nROLLBACK;\n"
	if got := Find(run("psql -d app", code), nil); got != nil {
		t.Errorf("%+v", got)
	}
	if got := Find(run("psql", "\\set ON_ERROR_ROLLBACK on\n"+code), nil); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestTable: every line of the table can be read, and means something.
func TestTable(t *testing.T) {
	blocks, names := 0, map[string]bool{}
	for i, l := range strings.Split(table, "\n") {
		head, system, is := strings.Cut(l, " = ")
		switch {
		case l == "" || l[0] == '#' || l[0] == '.' || strings.HasPrefix(l, "answer "), strings.HasPrefix(l, "at "):
		case l[0] == '@':
			if !is || strings.TrimSpace(system) == "" {
				t.Errorf("line %d: %q names no system", i+1, l)
			}
			blocks++
			for name := range strings.FieldsSeq(head[1:]) {
				if names[name] {
					t.Errorf("line %d: %s has a block already", i+1, name)
				}
				names[name] = true
				if got := block(name); got.system != system || len(got.lines) == 0 {
					t.Errorf("line %d: %s: found %q with %d lines", i+1, name, got.system, len(got.lines))
				}
			}
		default:
			words := strings.Fields(l)
			if !slices.Contains([]string{Destroy, Remove, Publish, Change, Reveal}, words[0]) || len(words) < 2 {
				t.Errorf("line %d: %q", i+1, l)
			}
		}
	}
	if blocks < 80 {
		t.Errorf("%d blocks", blocks)
	}
}

func TestBounded(t *testing.T) {
	long := "kubectl" + strings.Repeat(" --x", 5000) + " delete"
	if got := effects(Find(run(long, ""), nil)); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := Find(run("psql", strings.Repeat("DROP TABLE a;", 1000)), nil); len(got) != most {
		t.Errorf("%d", len(got))
	}
}

func FuzzFind(f *testing.F) {
	f.Add("psql -c DROP_TABLE_a", "x'$a$ /* ")
	f.Add("http DELETE :x", "\\")
	f.Fuzz(func(t *testing.T, text, code string) {
		if len(strings.Fields(text)) > 0 && len(text) < 1000 {
			Find(run(text, code), nil)
		}
	})
}

func BenchmarkNone(b *testing.B) {
	c := run("go test ./...", "")
	for b.Loop() {
		Find(c, nil)
	}
}
