package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/statedir"
)

// Session is what an agent's session began with.
type Session struct {
	Workspace string
	Began     *gitrepo.Snapshot
}

const (
	sessionFolder = "sessions" // below folder
	keptSessions  = 32
)

// BeginSession saves what an agent's session begins with. It does not overwrite what was saved
// before, because a resumed session began earlier.
func BeginSession(getenv func(string) string, agent, id string, s *Session) error {
	dir, err := statedir.Make(getenv, folder, sessionFolder)
	if err != nil {
		return err
	}
	err = statedir.Place(dir, sessionName(agent, id), append(appendText(nil, s.Workspace), encode(s.Began)...), false)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	forget(dir, keptSessions)
	return err
}

// SessionOf returns what was saved of a session, or nil if the session is not known.
func SessionOf(getenv func(string) string, agent, id string) *Session {
	dir, err := statedir.Open(getenv, folder, sessionFolder)
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, sessionName(agent, id)))
	if err != nil {
		return nil
	}
	d := decoder{rest: b}
	s := &Session{Workspace: d.text()}
	if s.Began, err = decode(d.rest); err != nil {
		return nil
	}
	return s
}

// maxHeld limits how often the end of one turn is held up.
const maxHeld = 3

// HoldUp reports whether the end of an agent's turn may be held up, and counts it. again says that
// it was already held up in the same turn. If the count cannot be saved, the end is held up once.
func HoldUp(getenv func(string) string, agent, id string, again bool) bool {
	dir, err := statedir.Make(getenv, folder, sessionFolder)
	if err != nil {
		return !again
	}
	name := filepath.Join(dir, sessionName(agent, id)+".held")
	held := 0
	if again {
		text, err := os.ReadFile(name)
		if err == nil {
			held, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if err != nil || held >= maxHeld {
			return false
		}
	}
	if os.WriteFile(name, []byte(strconv.Itoa(held+1)), 0o600) != nil {
		return !again
	}
	return true
}

func sessionName(agent, id string) string {
	sum := sha256.Sum256([]byte(agent + "\x00" + id))
	return hex.EncodeToString(sum[:16])
}
