package activity

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir"
)

// clock is a clock that the test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

var some = weir.ID{1, 2, 3}

// bare returns a meter that writes nothing to a store.
func bare(c *clock) *Meter {
	return &Meter{config: Config{Now: c.now}, known: map[weir.ID]*known{}, asked: map[weir.ID]asked{}}
}

// frame returns a frame of a client, which is masked.
func frame(first byte, size int) []byte {
	h := []byte{first}
	switch {
	case size < 126:
		h = append(h, 0x80|byte(size))
	case size < 1<<16:
		h = binary.BigEndian.AppendUint16(append(h, 0x80|126), uint16(size))
	default:
		h = binary.BigEndian.AppendUint64(append(h, 0x80|127), uint64(size))
	}
	return append(append(h, 1, 2, 3, 4), make([]byte, size)...)
}

const fin = 0x80

// An editor in a tab that is left open sends keep-alives every 5 s, acknowledgements, a
// latency check once a minute, and pings. An hour of it is no use.
func TestAnIdleTabIsNoUse(t *testing.T) {
	c := newClock()
	m := bare(c)
	conn := m.Conn(some, "")
	for i := range 720 {
		conn.Passed(frame(fin|opBinary, 13))
		conn.Passed(frame(fin|opBinary, 17))
		conn.Passed(frame(fin|0x9, 100)) // ping
		conn.Passed(frame(fin|0xA, 125)) // pong
		if i%12 == 0 {
			conn.Passed(frame(fin|opBinary, 75))
		}
		c.pass(5 * time.Second)
	}
	if at, source := m.Last(some); !at.IsZero() {
		t.Errorf("used at %s by %s", at, source)
	}
}

func TestWhatIsUse(t *testing.T) {
	for name, test := range map[string]struct {
		protocol string
		source   string
		send     func(*Conn, *clock)
	}{
		"typing in an editor": {"", WebSocket, func(conn *Conn, c *clock) {
			for range 4 {
				conn.Passed(frame(fin|opBinary, 90))
				c.pass(time.Second)
			}
		}},
		"a big message": {"", WebSocket, func(conn *Conn, _ *clock) { conn.Passed(frame(fin|opText, 70_000)) }},
		"a message in pieces": {"", WebSocket, func(conn *Conn, _ *clock) {
			conn.Passed(frame(opText, 200))
			conn.Passed(frame(fin|0x9, 5))
			conn.Passed(frame(fin|opContinue, 100))
		}},
		"keys one by one": {"", WebSocket, func(conn *Conn, c *clock) {
			for range keys {
				conn.Passed(frame(fin|opBinary, 2))
				c.pass(200 * time.Millisecond)
			}
		}},
		"one key in our terminal":   {TerminalProtocol, Terminal, func(conn *Conn, _ *clock) { conn.Passed(frame(fin|opBinary, 1)) }},
		"the size of our terminal":  {TerminalProtocol, "", func(conn *Conn, _ *clock) { conn.Passed(frame(fin|opText, 40)) }},
		"a ping of our terminal":    {TerminalProtocol, "", func(conn *Conn, _ *clock) { conn.Passed(frame(fin|0x9, 40)) }},
		"a little, minutes apart":   {"", "", func(conn *Conn, c *clock) { many(conn, c, 30, 200, 61*time.Second) }},
		"small ones, seconds apart": {"", "", func(conn *Conn, c *clock) { many(conn, c, 300, 32, time.Second) }},
		"no mask, so no user": {"", "", func(conn *Conn, _ *clock) {
			conn.Passed([]byte{fin | opText, 126, 0xff, 0xff})
			conn.Passed(frame(fin|opText, 500))
		}},
		"a length that cannot be": {"", "", func(conn *Conn, _ *clock) {
			conn.Passed([]byte{fin | opText, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0})
			conn.Passed(frame(fin|opText, 500))
		}},
		"an opcode that is not there": {"", "", func(conn *Conn, _ *clock) { conn.Passed(frame(fin|0x3, 500)) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			m := bare(c)
			test.send(m.Conn(some, test.protocol), c)
			if at, source := m.Last(some); source != test.source || at.IsZero() != (test.source == "") {
				t.Errorf("used at %s by %q", at, source)
			}
		})
	}
}

func many(conn *Conn, c *clock, n, size int, apart time.Duration) {
	for range n {
		conn.Passed(frame(fin|opBinary, size))
		c.pass(apart)
	}
}

// The same frames are seen however the bytes are split.
func TestFramesInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var whole []byte
	var want []uint64
	for range 200 {
		size := []int{0, 1, 32, 33, 125, 126, 127, 65535, 65536, 70000}[random.IntN(10)]
		whole = append(whole, frame(fin|opBinary, size)...)
		want = append(want, uint64(size))
	}
	conn := bare(newClock()).Conn(some, "")
	var got []uint64
	for rest := whole; len(rest) > 0; {
		n := min(len(rest), 1+random.IntN(5000))
		for i := range n { // byte by byte around headers, so that every start of a frame is tested
			before := len(conn.header)
			conn.Passed(rest[i : i+1])
			if before > 0 && len(conn.header) == 0 {
				got = append(got, conn.left)
			}
		}
		rest = rest[n:]
	}
	if len(got) != len(want) {
		t.Fatalf("%d frames of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("frame %d: %d bytes, wanted %d", i, got[i], want[i])
		}
	}
	// The same bytes in one piece give the same result.
	one := bare(newClock()).Conn(some, "")
	one.Passed(whole)
	if one.left != 0 || len(one.header) != 0 || one.broken || one.bytes != conn.bytes || one.presses != conn.presses {
		t.Errorf("%+v\n%+v", one, conn)
	}
}

// Any input is watched without a crash and with little memory.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{fin | opText, 0x85, 1, 2, 3, 4, 'h', 'e', 'l', 'l', 'o'}, 3)
	f.Add(frame(fin|opBinary, 300), 7)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		a, b := bare(newClock()).Conn(some, ""), bare(newClock()).Conn(some, "")
		a.Passed(data)
		if cut = max(cut, 1); cut > len(data) {
			cut = max(len(data), 1)
		}
		for rest := data; len(rest) > 0; {
			n := min(cut, len(rest))
			b.Passed(rest[:n])
			rest = rest[n:]
		}
		if a.left != b.left || !bytes.Equal(a.header, b.header) || a.broken != b.broken || a.bytes != b.bytes || len(a.header) > 14 {
			t.Errorf("in one piece %+v, in pieces %+v", a, b)
		}
	})
}

func TestRequests(t *testing.T) {
	ask := func(method, path, mode string) *http.Request {
		r, err := http.NewRequest(method, "http://ws.localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if mode != "" {
			r.Header.Set("Sec-Fetch-Mode", mode)
		}
		return r
	}
	c := newClock()
	m := bare(c)
	used := func(r *http.Request) bool {
		c.pass(2 * time.Second)
		m.Request(some, r)
		at, _ := m.Last(some)
		return at.Equal(c.at)
	}
	for _, mode := range []string{"navigate", "navigate", "", ""} {
		if !used(ask("GET", "/", mode)) {
			t.Errorf("a page that somebody opens, or a program: %q is no use", mode)
		}
	}
	if !used(ask("GET", "/files/a", "cors")) {
		t.Error("a file that was not asked for before is no use")
	}
	for range 500 {
		if c.pass(5 * time.Second); used(ask("GET", "/files/a", "cors")) || used(ask("HEAD", "/files/a?t=1", "no-cors")) {
			t.Fatal("a poll is use")
		}
		m.note(nil, nil) // entries in memory expire, too
	}
	old := ask("GET", "/poll", "")
	old.Header.Set("User-Agent", "Mozilla/5.0")
	if !used(old) || used(old) {
		t.Error("a poll of an old browser")
	}
	if !used(ask("PUT", "/files/a", "cors")) || !used(ask("POST", "/files/a", "same-origin")) {
		t.Error("writing is no use")
	}
	c.pass(time.Hour)
	if !used(ask("GET", "/files/a", "cors")) {
		t.Error("what was asked for long ago is remembered")
	}
	for i := range 10 * remembered {
		used(ask("GET", "/files/"+time.Duration(i).String(), "cors"))
	}
	if n := len(m.asked[some]); n > remembered {
		t.Errorf("%d paths are remembered", n)
	}
}
