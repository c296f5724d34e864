package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"ethos/pkg/record"
)

// shell reads a command line; keys are the names that it may have.
func shell(dirKey string, keys ...string) decoder {
	return func(c call) (record.Action, error) {
		a := record.Action{Kind: record.KindShell}
		if !c.whole {
			a.Input = []byte(c.input.Raw)
		}
		v, key, err := c.first(keys)
		if err != nil {
			return a, err
		}
		if a.Cwd, err = c.dir(dirKey); err != nil {
			return a, err
		}
		if v.IsArray() {
			a.Kind = record.KindExec
			a.Argv, err = words(v, key)
			return a, err
		}
		a.Script, err = text(v, key)
		return a, err
	}
}

// words reads a command that is an argument vector.
func words(v record.Value, key string) ([]string, error) {
	var out []string
	for _, item := range v.Array() {
		word, err := text(item, key)
		if err != nil {
			return nil, err
		}
		out = append(out, word)
	}
	if len(out) == 0 || out[0] == "" {
		return nil, fmt.Errorf("%s names no command", key)
	}
	return out, nil
}

// file reads a path; content are the keys that the new content may have.
func file(op string, paths []string, content ...string) decoder {
	return func(c call) (record.Action, error) {
		v, key, err := c.first(paths)
		if err != nil {
			return record.Action{}, err
		}
		f := record.FileAction{Op: op}
		if f.Path, err = text(v, key); err == nil && f.Path == "" {
			err = fmt.Errorf("%s is empty", key)
		}
		for _, key := range content {
			if v := c.input.Get(key); isText(v) {
				describe(&f, v.Str)
			}
		}
		return record.Action{Kind: record.KindFile, File: &f}, err
	}
}

// look reads a directory to list or search, by default the working directory. A pattern may lead
// out of it.
func look(op string, paths []string, pattern string) decoder {
	return func(c call) (record.Action, error) {
		f := record.FileAction{Op: op, Path: c.cwd}
		if v, key, err := c.first(paths); err == nil {
			if f.Path, err = text(v, key); err != nil {
				return record.Action{}, err
			}
		}
		if v := c.input.Get(pattern); pattern != "" && v.Exists() {
			glob, err := text(v, pattern)
			if err != nil {
				return record.Action{}, err
			}
			if prefix := staticDir(glob); path.IsAbs(prefix) || strings.HasPrefix(prefix, "~") {
				f.Path = prefix
			} else {
				f.Path = path.Join(f.Path, prefix)
			}
		}
		return record.Action{Kind: record.KindFile, File: &f}, nil
	}
}

// staticDir returns the directory of a glob up to its first wildcard.
func staticDir(glob string) string {
	if i := strings.IndexAny(glob, "*?[{"); i >= 0 {
		glob = glob[:i]
		return glob[:strings.LastIndexByte(glob, '/')+1]
	}
	return glob
}

// several reads a list of paths.
func several(op string, keys ...string) decoder {
	return func(c call) (record.Action, error) {
		v, key, err := c.first(keys)
		if err != nil {
			return record.Action{}, err
		}
		var files []record.FileAction
		for _, item := range v.Array() {
			p, err := text(item, key)
			if err != nil {
				return record.Action{}, err
			}
			files = append(files, record.FileAction{Op: op, Path: p})
		}
		return fileAction(files, key)
	}
}

func fileAction(files []record.FileAction, key string) (record.Action, error) {
	if len(files) == 0 {
		return record.Action{}, fmt.Errorf("%s names no file", key)
	}
	first := files[0]
	first.Also = files[1:]
	return record.Action{Kind: record.KindFile, File: &first}, nil
}

func fetch(keys ...string) decoder {
	return func(c call) (record.Action, error) {
		v, key, err := c.first(keys)
		if err != nil {
			return record.Action{}, err
		}
		url, err := text(v, key)
		return record.Action{Kind: record.KindFetch, URL: url}, err
	}
}

// mcp handles a call of a Model Context Protocol tool.
func mcp(c call) (record.Action, error) {
	if c.input.Exists() && !c.input.IsObject() {
		return record.Action{}, fmt.Errorf("the input of an MCP tool must be an object")
	}
	name := strings.TrimPrefix(strings.TrimPrefix(c.tool, "mcp__"+c.server+"__"), "MCP:")
	a := record.Action{Kind: record.KindMCP, Server: c.server, Name: name}
	if c.input.Exists() {
		a.Input = []byte(c.input.Raw)
	}
	return a, nil
}

func (c call) first(keys []string) (record.Value, string, error) {
	for _, key := range keys {
		if v := c.input.Get(key); v.Exists() {
			return v, key, nil
		}
	}
	return record.Value{}, "", missing("the tool's input has no " + strings.Join(keys, " or "))
}

// dir returns the directory that the tool runs in, if its input names one.
func (c call) dir(key string) (string, error) {
	v := c.input.Get(key)
	if key == "" || !v.Exists() || v.Raw == "null" {
		return c.cwd, nil
	}
	dir, err := text(v, key)
	if err != nil || path.IsAbs(dir) {
		return dir, err
	}
	return path.Join(c.cwd, dir), nil
}

func text(v record.Value, key string) (string, error) {
	if !isText(v) {
		return "", record.NewBadLine(record.CodeWrongType, key+" must be a string", nil)
	}
	if strings.ContainsRune(v.Str, 0) {
		return "", fmt.Errorf("%s contains a NUL byte", key)
	}
	return v.Str, nil
}

func missing(message string) error {
	return record.NewBadLine(record.CodeMissingField, message, nil)
}

// describe records the size and digest of new content.
func describe(f *record.FileAction, content string) {
	sum := sha256.Sum256([]byte(content))
	f.Bytes, f.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
}

func isText(v record.Value) bool { return strings.HasPrefix(v.Raw, `"`) }
