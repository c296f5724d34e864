package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// head is the end of the store. It is kept in the file HEAD, which is overwritten after each line,
// so that the next writer need not search for the end, and so that removed last lines are noticed.
// A writer that dies between the two writes leaves a head that lacks the lines after size; that is
// not damage.
type head struct {
	file string // YYYY/MM/DD.ndjson
	size int64  // of the file, after the last line
	hash Hash   // of the last line
}

const (
	headFile  = "HEAD"
	headMagic = "ethos-store/1"
	headLen   = 256
)

// encode returns the fixed-size text of a head with its own checksum, so that a head damaged by a
// crash of the machine is rejected.
func (h head) encode() []byte {
	body := fmt.Sprintf("%s %s %d %s", headMagic, h.file, h.size, h.hash)
	text := fmt.Sprintf("%s %s", body, hashOf([]byte(body)))
	return fmt.Appendf(nil, "%-*s\n", headLen-1, text)
}

func parseHead(text []byte) (head, bool) {
	fields := strings.Fields(string(text))
	if len(text) != headLen || len(fields) != 5 || fields[0] != headMagic {
		return head{}, false
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	h := head{file: fields[1], size: size, hash: Hash(fields[3])}
	ok := err == nil && size >= 0 && h.hash.valid() && validDay(h.file) && string(hashOf([]byte(strings.Join(fields[:4], " ")))) == fields[4]
	return h, ok
}

// readHead returns the head, or false if there is no valid one.
func readHead(f *os.File) (head, bool, error) {
	var buf [headLen + 1]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, false, err
	}
	h, ok := parseHead(buf[:n])
	return h, ok, nil
}

func writeHead(f *os.File, h head) error {
	_, err := f.WriteAt(h.encode(), 0)
	return err
}
