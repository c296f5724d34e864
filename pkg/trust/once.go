package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/statedir"
)

// saidFolder is the folder, in the state folder, that records which notices were given.
const saidFolder = "said"

// maxSaid is the number of notes above which old ones are removed. oldest is the age at which a
// note expires: no session of an agent is longer.
const (
	maxSaid = 512
	oldest  = 30 * 24 * time.Hour
)

// Once reports whether to give a notice about a file in an agent's session. It is true the first
// time, and whenever an earlier time cannot be established.
func (m *Memory) Once(session string, c record.Configuration, now time.Time) bool {
	if session == "" {
		return true
	}
	dir, err := statedir.Make(m.getenv, saidFolder)
	if err != nil {
		return true
	}
	sum := sha256.Sum256([]byte(session + "\x00" + c.Path + "\x00" + c.Digest))
	f, err := os.OpenFile(filepath.Join(dir, hex.EncodeToString(sum[:])), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	f.Close()
	forget(dir, now)
	return true
}

// forget removes the notes of sessions that ended long ago. Errors are ignored.
func forget(dir string, now time.Time) {
	notes, err := os.ReadDir(dir)
	if err != nil || len(notes) <= maxSaid {
		return
	}
	for _, note := range notes {
		if info, err := note.Info(); err == nil && now.Sub(info.ModTime()) > oldest {
			os.Remove(filepath.Join(dir, note.Name()))
		}
	}
}
