package signing

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// The limits of a run or session.
const (
	burst      = 500             // requests at once
	every      = time.Second / 2 // one more request after this time
	maxKept    = 500             // signatures in the evidence
	maxRefused = 100             // refusals in the evidence, separate from signatures
	maxDenied  = 50
	maxReason  = 1 << 10 // bytes of a reason there
	maxBy      = 256     // bytes of a committer
	fails      = 3       // consecutive failures of the program; then it pauses
	rest       = time.Minute
	talk       = 10 * time.Second // to send a request, or to receive the answer
	notYours   = "a repository's own configuration does not count; set it outside in ~/.gitconfig, by includeIf for some repositories only"
)

// Signer answers requests for signatures.
type Signer struct {
	// Program signs. It is nil if nothing can be signed; Unusable then says
	// why.
	Program  *Program
	Unusable error
	Anybody  bool     // a commit may have another author
	Root     *os.Root // the root directory as the command sees it
	// Decide says why policy does not allow an object to be signed, and the
	// remedy; "" allows it. nil means no policy.
	Decide func(o *Object, repository string) (reason, hint string)
	// Now returns the current time.
	Now func() time.Time

	one    sync.Mutex // only one signature at a time
	reads  sync.Mutex
	mu     sync.Mutex // protects what follows
	tokens int
	filled time.Time
	failed int
	until  time.Time // end of the program's pause
	list   []record.Signature
	kept   map[bool]int // number of entries in list; refusals under true
	more   int
	denied []record.Denial
}

// Signatures returns the requests kept so far, and the number of further
// requests.
func (s *Signer) Signatures() ([]record.Signature, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]record.Signature{}, s.list...), s.more
}

// Denied returns the distinct refusals, without a layer.
func (s *Signer) Denied() []record.Denial {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.denied)
}

// refusal says why nothing is signed.
type refusal struct {
	reason string // visible to the command
	hint   string
	detail string // visible to the user only
}

// Serve answers one request and closes the connection.
func (s *Signer) Serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	no := s.take()
	if no != nil && s.unhurried(ctx) != nil {
		return
	}
	ctx, cancel := whileOpen(ctx, conn)
	defer cancel()
	_ = conn.SetDeadline(time.Now().Add(talk))
	var r request
	if err := receive(conn, &r); err != nil {
		s.note(record.Signature{}, &refusal{reason: "the request cannot be read"})
		_ = send(conn, answer{Refused: "the request cannot be read: " + err.Error()})
		return
	}
	var signature []byte
	if no == nil {
		signature, no = s.answer(ctx, &r)
	} else {
		s.note(record.Signature{}, no)
	}
	a := answer{Signature: signature}
	if no != nil {
		a = answer{Refused: no.reason, Hint: no.hint}
	}
	_ = conn.SetDeadline(time.Now().Add(talk))
	_ = send(conn, a) // fails if the client has gone
}

// unhurried waits if requests come too fast, so that they are not read faster
// than signatures can be made.
func (s *Signer) unhurried(ctx context.Context) error {
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// whileOpen returns a context that also ends when the client disconnects.
func whileOpen(ctx context.Context, conn net.Conn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if c, ok := conn.(*net.UnixConn); ok {
		go func() {
			tick := time.NewTicker(every / 4)
			defer tick.Stop()
			for !gone(c) {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
			cancel()
		}()
	}
	return ctx, cancel
}

// gone reports whether a client has closed the connection, not only its sending
// direction: poll(2), POLLHUP.
func gone(conn *net.UnixConn) (yes bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(list, 0)
		yes = err == nil && n > 0 && list[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	})
	return yes || err != nil
}

func (s *Signer) answer(ctx context.Context, r *request) ([]byte, *refusal) {
	o, err := Parse(r.Payload)
	if err != nil {
		no := &refusal{reason: err.Error(), hint: "sign it outside; inside, only commits and tags are signed"}
		s.note(record.Signature{}, no)
		return nil, no
	}
	event := record.Signature{Kind: o.Kind, Committer: o.Committer.String()}
	if no := s.judge(ctx, r, o); no != nil {
		event.Object = o.Name(nil)
		s.note(event, no)
		return nil, no
	}
	signature, key, no, err := s.sign(ctx, o)
	if no != nil {
		event.Object = o.Name(nil)
		s.note(event, no)
		return nil, no
	}
	s.count(err)
	if err != nil {
		no = &refusal{
			reason: "the signing program of the person did not sign", detail: err.Error(),
			hint: "outside, unlock the key once: git commit -S --allow-empty in a throw-away repository; the terminal of a command is not asked for a passphrase",
		}
		signature = nil
	} else {
		event.Key = key
	}
	event.Object = o.Name(signature)
	s.note(event, no)
	return signature, no
}

// sign signs one object at a time. It first repeats the checks on what is read
// and run.
func (s *Signer) sign(ctx context.Context, o *Object) (signature []byte, key string, no *refusal, err error) {
	s.one.Lock()
	defer s.one.Unlock()
	if no := s.rests(); no != nil {
		return nil, "", no, nil
	}
	if ctx.Err() != nil {
		return nil, "", &refusal{reason: "the requester is gone", hint: "wait for git"}, nil
	}
	p, err := s.Program.again()
	if err != nil {
		return nil, "", unusable(err), nil
	}
	signature, key, err = p.sign(ctx, o)
	return signature, key, nil, err
}

func unusable(err error) *refusal {
	return &refusal{reason: err.Error(), hint: "correct it outside of the sandbox, in that configuration; then start the command, or its session, again"}
}

// judge says why an object is not signed.
func (s *Signer) judge(ctx context.Context, r *request, o *Object) *refusal {
	if s.Unusable != nil {
		return unusable(s.Unusable)
	}
	p := &s.Program.person
	if r.Format != p.Format {
		return &refusal{reason: fmt.Sprintf("git signs with the format %.20q here, but your own configuration says %q", r.Format, p.Format), hint: notYours}
	}
	if err := p.Judge(o, s.Anybody); err != nil {
		hint := notYours
		if p.Committer.is(o.Committer) {
			hint = "--git-signing committer signs what you commit of others"
		}
		return &refusal{reason: err.Error(), hint: hint}
	}
	if err := p.asks(r.Key, o); err != nil {
		return &refusal{reason: err.Error(), hint: notYours}
	}
	s.reads.Lock() // one repository at a time
	defer s.reads.Unlock()
	if err := Stored(ctx, s.Root, r.Repository, o.Refers); err != nil {
		return &refusal{reason: err.Error(), hint: "sign what git makes in its repository"}
	}
	if s.Decide != nil && ctx.Err() == nil {
		if reason, hint := s.Decide(o, r.Repository); reason != "" {
			return &refusal{reason: reason, hint: hint}
		}
	}
	return nil
}

// rests returns a refusal while the program pauses.
func (s *Signer) rests() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Now().Before(s.until) {
		return &refusal{reason: fmt.Sprintf("signing failed %d times in a row", fails), hint: fmt.Sprintf("unlock the key outside, and try again in %v", rest)}
	}
	return nil
}

// take uses up one of the allowed requests.
func (s *Signer) take() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	if s.filled.IsZero() {
		s.tokens, s.filled = burst, now
	}
	if more := int(now.Sub(s.filled) / every); more > 0 {
		s.tokens, s.filled = min(burst, s.tokens+more), now
	}
	if s.tokens == 0 {
		return &refusal{reason: fmt.Sprintf("more than %d requests at once", burst), hint: "send fewer requests, or sign outside: git rebase --force-rebase --gpg-sign main"}
	}
	s.tokens--
	return nil
}

// count pauses the program after repeated failures, because each attempt may
// ask the user for a passphrase.
func (s *Signer) count(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.failed = 0
	} else if s.failed++; s.failed >= fails {
		s.failed, s.until = 0, s.Now().Add(rest)
	}
}

func (s *Signer) note(event record.Signature, no *refusal) {
	event.Time, event.Verdict = s.Now().UTC().Format(time.RFC3339Nano), "signed"
	if no != nil {
		event.Verdict, event.Reason = "refused", no.reason
		if no.detail != "" {
			event.Reason += ": " + no.detail
		}
	}
	event.Reason, event.Committer = cut(event.Reason, maxReason), cut(event.Committer, maxBy)
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(d record.Denial) bool { return d.Reason == event.Reason }
	if no != nil && len(s.denied) < maxDenied && !slices.ContainsFunc(s.denied, same) {
		what := "a signature"
		if event.Kind != "" {
			what = "the signature of a " + event.Kind
		}
		s.denied = append(s.denied, record.Denial{What: what, Reason: event.Reason, Remedy: no.hint})
	}
	most := maxKept
	if no != nil {
		most = maxRefused
	}
	if s.kept[no != nil] == most {
		s.more++
		return
	}
	if s.kept == nil {
		s.kept = map[bool]int{}
	}
	s.kept[no != nil]++
	s.list = append(s.list, event)
}

// cut returns the beginning of a text, of at most most bytes.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
