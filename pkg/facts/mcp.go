package facts

import (
	"encoding/json"
	"path"
	"strings"

	"ethos/pkg/record"
)

// mcpDepth limits the depth to which the arguments of a tool are examined.
const mcpDepth = 16

// toolPaths adds the files that the arguments of an MCP tool name: strings that look like paths,
// and values whose member name says that they are paths.
func (f *fileFacts) toolPaths(a *record.Action) {
	var input any
	if len(a.Input) == 0 || json.Unmarshal(a.Input, &input) != nil {
		return
	}
	op := toolOp(a.Name)
	var walk func(key string, v any, depth int)
	walk = func(key string, v any, depth int) {
		if depth > mcpDepth {
			f.lacks.add(record.IncompleteDepth)
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for k, each := range v {
				walk(k, each, depth+1)
			}
		case []any:
			for _, each := range v {
				walk(key, each, depth+1)
			}
		case string:
			if name, ok := toolPath(key, v); ok {
				f.add(op, name, f.absolute(name, a.Cwd), false)
			}
		}
	}
	walk("", input, 0)
}

// toolPath returns the path that an argument contains, if it is a path.
func toolPath(key, value string) (string, bool) {
	value = strings.TrimPrefix(value, "file://")
	if value == "" || len(value) > 4096 || strings.ContainsAny(value, "\n\x00") {
		return "", false
	}
	key = strings.ToLower(key)
	for _, named := range [...]string{"path", "file", "dir", "folder", "destination", "source", "target", "uri", "root"} {
		if strings.Contains(key, named) {
			return value, !strings.Contains(value, "://")
		}
	}
	rooted := strings.HasPrefix(value, "/") && path.Clean(value) != "/" || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "../")
	return value, rooted && !strings.ContainsAny(value, " \t<>|;&")
}

// toolOp returns the file operation of a tool, judged by its name. A tool with an unknown name may
// write.
func toolOp(name string) string {
	lower := strings.ToLower(name)
	for _, each := range [...]struct{ word, op string }{
		{"delete", "delete"}, {"remove", "delete"}, {"unlink", "delete"}, {"trash", "delete"}, {"move", "move"}, {"rename", "move"},
		{"write", "write"}, {"edit", "write"}, {"create", "write"}, {"append", "write"}, {"patch", "write"}, {"update", "write"}, {"save", "write"}, {"replace", "write"}, {"insert", "write"}, {"copy", "write"},
		{"read", "read"}, {"get", "read"}, {"list", "list"}, {"search", "list"}, {"find", "list"}, {"tree", "list"}, {"stat", "list"}, {"info", "list"}, {"view", "read"}, {"show", "read"}, {"open", "read"}, {"fetch", "read"}, {"query", "read"}, {"status", "read"}, {"log", "read"}, {"diff", "read"},
	} {
		if strings.Contains(lower, each.word) {
			return each.op
		}
	}
	return "write"
}
