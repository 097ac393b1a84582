package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// sampleEvery determines which events are timed, by their number: all watchers time the
// same ones.
const sampleEvery = 8

// place is the position of an event: transaction, number, line of a batch.
type place struct{ xid, seq, line int64 }

const wholeRow = 1 << 40

func (p place) after(q place) bool {
	if p.xid != q.xid {
		return p.xid > q.xid
	}
	if p.seq != q.seq {
		return p.seq > q.seq
	}
	return p.line > q.line
}

// watcher is one client with one stream. It does as little as possible, because it shares
// the machine with the server.
type watcher struct {
	address, token, begin string
	times                 *histogram

	mu   sync.Mutex
	conn net.Conn

	// These are what was seen; read them after run has ended.
	last        place
	id          []byte
	events, sum int64
	duplicated  int64
	connects    int
}

// cut breaks the connection.
func (w *watcher) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_ = w.conn.Close()
	}
}

// run watches until it has seen the end, which may become known late, or until ctx ends.
// opened is called for the first connection.
func (w *watcher) run(ctx context.Context, end func() (place, bool), opened func()) error {
	w.id = []byte(w.begin)
	buffer := make([]byte, 32<<10)
	for ctx.Err() == nil {
		head, err := w.connect(ctx, buffer)
		if errors.Is(err, net.ErrClosed) {
			continue // cut off again
		}
		if err != nil {
			return err
		}
		if w.connects++; w.connects == 1 {
			opened()
		}
		for kept := head; ; {
			kept = w.parse(buffer[:kept], time.Now())
			if e, ok := end(); ok && !e.after(w.last) {
				w.cut()
				return nil
			}
			if kept == len(buffer) {
				return errors.New("an event is larger than the buffer")
			}
			n, err := w.conn.Read(buffer[kept:])
			if err != nil {
				break // an incomplete event is dropped
			}
			kept += n
		}
	}
	return ctx.Err()
}

// connect sends the request and returns how many bytes of the stream came with the head
// of the answer.
func (w *watcher) connect(ctx context.Context, buffer []byte) (kept int, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", w.address)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
	fmt.Fprintf(conn, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nLast-Event-ID: %s\r\n\r\n", w.token, w.id)
	for n := 0; ; {
		more, err := conn.Read(buffer[n:])
		n += more
		head, _, whole := bytes.Cut(buffer[:n], []byte("\r\n\r\n"))
		switch {
		case whole && (!strings.HasPrefix(string(head), "HTTP/1.1 200 ") || bytes.Contains(head, []byte("chunked"))):
			return 0, fmt.Errorf("the server answers %s", buffer[:n])
		case whole:
			return copy(buffer, buffer[len(head)+4:n]), nil
		case err != nil:
			return 0, err
		}
	}
}

// parse removes whole blocks from the buffer and moves the rest to its beginning.
func (w *watcher) parse(buffer []byte, now time.Time) (kept int) {
	for {
		end := bytes.Index(buffer[kept:], []byte("\n\n"))
		if end < 0 {
			return copy(buffer[:cap(buffer)], buffer[kept:])
		}
		w.block(buffer[kept:kept+end], now)
		kept += end + 2
	}
}

// block handles one event. A block that does not begin with an id is not an event.
func (w *watcher) block(block []byte, now time.Time) {
	rest, ok := bytes.CutPrefix(block, []byte("id: "))
	if !ok {
		return
	}
	line := bytes.IndexByte(rest, '\n')
	if line < 0 {
		return
	}
	w.id = append(w.id[:0], rest[:line]...)
	p := parsePlace(w.id)
	if !p.after(w.last) {
		w.duplicated++
		return
	}
	w.last = p
	w.events++
	w.sum += p.seq
	if p.seq%sampleEvery == 0 {
		w.time(rest, now)
	}
}

func (w *watcher) time(block []byte, now time.Time) {
	_, text, _ := bytes.Cut(block, []byte(`"at":"`))
	text, _, _ = bytes.Cut(text, []byte(`"`))
	if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
		w.times.add(now.Sub(at))
	}
}

// parsePlace reads a cursor: xid.seq, or xid.seq+line inside a batch.
func parsePlace(text []byte) (p place) {
	xid, rest, _ := bytes.Cut(text, []byte("."))
	seq, line, batch := bytes.Cut(rest, []byte("+"))
	p = place{number(xid), number(seq), wholeRow}
	if batch {
		p.line = number(line)
	}
	return p
}

// number trusts its digits, because wrong ones would show as a wrong sum.
func number(digits []byte) (n int64) {
	for _, d := range digits {
		n = 10*n + int64(d-'0')
	}
	return n
}
