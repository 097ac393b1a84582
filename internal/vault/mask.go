package vault

import "io"

// stars replace a secret.
const stars = "***"

// Mask replaces secrets in the output of programs: the values, and the forms in which
// values are usually printed (see forms.go). It is an automaton that reads each byte once
// and knows at every moment how much of the input could be the beginning of a secret (Aho
// and Corasick). So it holds back only that much, and finds a secret that was split
// anywhere.
//
// Secrets that overlap are masked as one. A nil Mask masks nothing. It is safe for
// concurrent use.
type Mask struct {
	nodes []node
	first [256]int32 // children of the root
}

// node is a beginning of a secret. Its children are a list, because most have one.
type node struct {
	child, next int32 // the first child, and the next child of the same parent
	fail        int32 // the longest other beginning that this one ends with
	depth       int32 // how long this beginning is
	found       int32 // how long the longest secret is that ends here
	char        byte
}

// NewMask makes a mask for values. Empty ones are ignored.
func NewMask(values ...string) *Mask {
	m := &Mask{nodes: make([]node, 1)}
	for _, value := range values {
		for _, form := range forms(value) {
			m.add(form)
		}
	}
	m.link()
	return m
}

func (m *Mask) add(text string) {
	at := int32(0)
	for i := range len(text) {
		next := m.step(at, text[i])
		if next == 0 {
			next = int32(len(m.nodes))                                          // #nosec G115 -- values and their forms are far below 2 GiB
			m.nodes = append(m.nodes, node{char: text[i], depth: int32(i) + 1}) // #nosec G115 -- as above
			if at == 0 {
				m.first[text[i]] = next
			} else {
				m.nodes[next].next = m.nodes[at].child
				m.nodes[at].child = next
			}
		}
		at = next
	}
	if at != 0 {
		m.nodes[at].found = m.nodes[at].depth
	}
}

// step returns the child of a node for a byte, 0 if it has none.
func (m *Mask) step(at int32, c byte) int32 {
	if at == 0 {
		return m.first[c]
	}
	child := m.nodes[at].child
	for child != 0 && m.nodes[child].char != c {
		child = m.nodes[child].next
	}
	return child
}

// link sets where to continue when a beginning does not go on, the short ones first.
func (m *Mask) link() {
	queue := make([]int32, 0, len(m.nodes))
	for _, child := range m.first {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for child := m.nodes[at].child; child != 0; child = m.nodes[child].next {
			n := &m.nodes[child]
			n.fail = m.move(m.nodes[at].fail, n.char)
			n.found = max(n.found, m.nodes[n.fail].found)
			queue = append(queue, child)
		}
	}
}

// move returns the longest beginning at the end of the input, one byte further.
func (m *Mask) move(at int32, c byte) int32 {
	for {
		if next := m.step(at, c); next != 0 {
			return next
		}
		if at == 0 {
			return 0
		}
		at = m.nodes[at].fail
	}
}

// Bytes returns b with all secrets masked. It does not change b, and may return it.
func (m *Mask) Bytes(b []byte) []byte {
	if m == nil || len(m.nodes) == 1 || !m.holds(b) {
		return b
	}
	s := stream{mask: m}
	return s.end(s.feed(nil, b))
}

// Beginning is [Mask.Bytes] for text that was cut off. An end that could be the beginning
// of a secret is left out.
func (m *Mask) Beginning(b []byte) []byte {
	if m == nil || len(m.nodes) == 1 {
		return b
	}
	s := stream{mask: m}
	return s.feed(nil, b)
}

// String is [Mask.Bytes] for a string.
func (m *Mask) String(text string) string { return string(m.Bytes([]byte(text))) }

// holds reports whether there is something to mask.
func (m *Mask) holds(b []byte) bool {
	at := int32(0)
	for _, c := range b {
		if at = m.move(at, c); m.nodes[at].found > 0 {
			return true
		}
	}
	return false
}

// Writer masks its input and passes it on to w. An end that could be the beginning of a
// secret is held back until it is decided: call Flush at the end.
func (m *Mask) Writer(w io.Writer) *MaskWriter {
	if m == nil {
		m = NewMask()
	}
	return &MaskWriter{w: w, s: stream{mask: m}}
}

// MaskWriter masks a stream. It is for one goroutine at a time.
type MaskWriter struct {
	w   io.Writer
	s   stream
	out []byte
}

// Write masks p. It reports all of p as written, also the part that it holds back.
func (w *MaskWriter) Write(p []byte) (int, error) {
	w.out = w.s.feed(w.out[:0], p)
	if len(w.out) > 0 {
		if _, err := w.w.Write(w.out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush passes on the part that was held back, because no more input can complete a
// secret.
func (w *MaskWriter) Flush() error {
	w.out = w.s.end(w.out[:0])
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.w.Write(w.out)
	return err
}

// stream is the state of one input that is being masked.
type stream struct {
	mask *Mask
	at   int32
	// held[gone:] are the last bytes read, as many as the beginning at is long.
	held []byte
	gone int
	// read is how many bytes were read in all; hide are the spans of held bytes that
	// belong to a secret: in order, apart from one another.
	read int
	hide []span
	// hiding means that the last byte of the output belonged to a secret.
	hiding bool
}

// span is from the byte lo up to the byte hi, counted from the first one read.
type span struct{ lo, hi int }

// feed reads b and adds the decided bytes to out.
func (s *stream) feed(out, b []byte) []byte {
	for _, c := range b {
		s.at = s.mask.move(s.at, c)
		s.read++
		n := &s.mask.nodes[s.at]
		if n.depth == 0 && s.gone == len(s.held) {
			s.hiding = false
			out = append(out, c)
			continue
		}
		s.held = append(s.held, c)
		if n.found > 0 {
			s.cover(span{s.read - int(n.found), s.read})
		}
		out = s.give(out, len(s.held)-s.gone-int(n.depth))
	}
	return out
}

// cover hides a span that ends at the current byte.
func (s *stream) cover(c span) {
	for len(s.hide) > 0 && s.hide[len(s.hide)-1].hi >= c.lo {
		c.lo = min(c.lo, s.hide[len(s.hide)-1].lo)
		s.hide = s.hide[:len(s.hide)-1]
	}
	s.hide = append(s.hide, c)
}

// give moves the first n held bytes to the output.
func (s *stream) give(out []byte, n int) []byte {
	for range n {
		place := s.read - (len(s.held) - s.gone)
		if len(s.hide) > 0 && s.hide[0].hi <= place {
			s.hide = s.hide[1:]
		}
		hidden := len(s.hide) > 0 && s.hide[0].lo <= place
		if !hidden {
			out = append(out, s.held[s.gone])
		} else if !s.hiding {
			out = append(out, stars...)
		}
		s.hiding = hidden
		s.gone++
	}
	if s.gone > len(s.held)/2 {
		s.held, s.gone = append(s.held[:0], s.held[s.gone:]...), 0
	}
	return out
}

// end moves all held bytes to the output and starts over.
func (s *stream) end(out []byte) []byte {
	out = s.give(out, len(s.held)-s.gone)
	*s = stream{mask: s.mask, held: s.held[:0]}
	return out
}
