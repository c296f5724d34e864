package setup

import "bytes"

// ownFormat is a file that contains only ethos's part.
type ownFormat struct {
	text func(Options) ([]byte, error)
}

func (f ownFormat) install(have []byte, o Options) ([]byte, error) {
	if len(have) > 0 && !bytes.Contains(have, []byte(asksMark)) {
		return nil, errNotOurs
	}
	return f.text(o)
}

func (f ownFormat) remove(have []byte) ([]byte, error) {
	if !bytes.Contains(have, []byte(asksMark)) {
		return nil, errNotOurs
	}
	return nil, nil
}

func (f ownFormat) has(text []byte) bool { return ours(string(text)) }

func (f ownFormat) restore(have, _ []byte) []byte { return have }
