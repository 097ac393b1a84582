package activity

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/weirhq/weir"
)

// The sources of use.
const (
	HTTP      = "http"
	WebSocket = "websocket"
	Terminal  = "terminal"
)

const (
	// small is the payload size of a frame that does not count: keep-alives of editors
	// are 13 bytes and a little more.
	small = 32
	// window is the time over which bytes are counted, and enough the number of bytes
	// that is use. An editor measures the latency once a minute, with less than 100
	// bytes.
	window, enough = time.Minute, 256
	// A person types in bursts: many small frames in a short time are keys. Keep-alives
	// come every few seconds.
	burst, keys = 10 * time.Second, 16
)

// TerminalProtocol is the subprotocol of a WebSocket whose binary messages are typed
// keys, and nothing else.
const TerminalProtocol = "weir.terminal"

const (
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
)

// Conn watches the data that a user sends through one WebSocket. Feed it with the bytes
// as they pass; it keeps none of them.
type Conn struct {
	meter    *Meter
	id       weir.ID
	terminal bool

	mu     sync.Mutex
	header []byte // of the next frame
	left   uint64 // bytes left of the payload of the current frame
	broken bool   // the stream is no WebSocket: nothing counts

	opened   time.Time // the window
	bytes    uint64
	pressed  time.Time // the burst
	presses  int
	fragment byte // opcode of the first frame of the message
}

// Conn returns a watcher for a new connection to a workspace with a subprotocol.
func (m *Meter) Conn(id weir.ID, subprotocol string) *Conn {
	return &Conn{meter: m, id: id, terminal: subprotocol == TerminalProtocol}
}

// Passed receives bytes on their way from the user to the workspace.
func (c *Conn) Passed(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(p) > 0 && !c.broken {
		if c.left > 0 {
			n := min(c.left, uint64(len(p)))
			c.left -= n
			p = p[n:]
			continue
		}
		c.header = append(c.header, p[0])
		p = p[1:]
		if size, whole := headerSize(c.header); !whole {
			continue
		} else if size < 0 {
			c.broken = true
			continue
		}
		c.begin(c.header[0], payload(c.header))
		c.header = c.header[:0]
	}
}

// headerSize returns the length of a header, once enough of it is there, and whether it
// is complete. A negative size means that it is invalid.
func headerSize(h []byte) (size int, whole bool) {
	if len(h) < 2 {
		return 0, false
	}
	size = 2
	switch h[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if h[1]&0x80 == 0 { // a client masks the frames that it sends
		return -1, true
	}
	size += 4
	if len(h) == size && h[1]&0x7f == 127 && h[2]&0x80 != 0 {
		return -1, true
	}
	return size, len(h) == size
}

// payload returns the length of the payload that follows a header.
func payload(h []byte) uint64 {
	switch n := h[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(h[2:4]))
	case 127:
		return binary.BigEndian.Uint64(h[2:10])
	default:
		return uint64(n)
	}
}

// begin handles the header of a frame. The payload follows.
func (c *Conn) begin(first byte, size uint64) {
	c.left = size
	op := first & 0x0f
	switch op {
	case opText, opBinary:
		c.fragment = op
	case opContinue:
		op = c.fragment
	default:
		return // control
	}
	now := c.meter.config.Now()
	if c.terminal {
		if op == opBinary && size > 0 {
			c.meter.Use(c.id, Terminal)
		}
		return
	}
	if c.counts(now, size) {
		c.meter.Use(c.id, WebSocket)
	}
}

// counts reports whether a data frame is use.
func (c *Conn) counts(now time.Time, size uint64) bool {
	if size <= small {
		if now.Sub(c.pressed) > burst {
			c.pressed, c.presses = now, 0
		}
		c.presses++
		return c.presses >= keys
	}
	if now.Sub(c.opened) > window {
		c.opened, c.bytes = now, 0
	}
	c.bytes += size
	return c.bytes >= enough
}
