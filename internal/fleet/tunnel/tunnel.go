package tunnel

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/loop"
)

const (
	// Protocol is the name of the protocol that both ends have to speak.
	Protocol = "weir.forward"
	// ended is the status with which an end closes a tunnel and says why.
	ended = websocket.StatusCode(4000)
	// pingEvery is the time between two pings, pingWithin the time for the answer.
	pingEvery, pingWithin = 15 * time.Second, 30 * time.Second
)

// Conn is one end of a tunnel. Read and Write may be called at the same time, each by one
// goroutine.
type Conn struct {
	socket *websocket.Conn
	life   context.Context
	end    context.CancelFunc
	part   io.Reader
	moved  atomic.Int64

	mu  sync.Mutex
	why string
}

// Accept turns a request into a tunnel. On an error it has answered the request.
func Accept(w http.ResponseWriter, r *http.Request) (*Conn, error) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Protocol}})
	if err != nil {
		return nil, err
	}
	return open(socket), nil
}

// Asked reports whether a request asks for a tunnel.
func Asked(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		r.Header.Get("Sec-Websocket-Protocol") == Protocol
}

// Dial opens a tunnel to an address of http or https. If the server refuses it, answer is
// what it said; its body is a problem.
func Dial(
	ctx context.Context, client *http.Client, address string, header http.Header,
) (conn *Conn, answer *http.Response, err error) {
	socket, answer, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(address, "http"), &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: header, Subprotocols: []string{Protocol},
	})
	if err != nil {
		return nil, answer, err
	}
	return open(socket), answer, nil
}

func open(socket *websocket.Conn) *Conn {
	socket.SetReadLimit(-1) // a message is read in parts, so its length costs nothing
	life, end := context.WithCancel(context.Background())
	return &Conn{socket: socket, life: life, end: end}
}

// Read reads what the other end wrote. After the other end has closed the tunnel it returns
// [io.EOF], and Why says the reason.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		if c.part == nil {
			_, part, err := c.socket.Reader(c.life)
			if err != nil {
				return 0, c.over(err)
			}
			c.part = part
		}
		n, err := c.part.Read(b)
		if errors.Is(err, io.EOF) {
			c.part, err = nil, nil
		}
		c.moved.Add(int64(n))
		if err != nil {
			return n, c.over(err)
		}
		if n > 0 {
			return n, nil
		}
	}
}

// over keeps why the other end closed the tunnel.
func (c *Conn) over(err error) error {
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = closed.Reason
	return io.EOF
}

// Write writes to the other end. It waits while the other end does not read.
func (c *Conn) Write(b []byte) (int, error) {
	if err := c.socket.Write(c.life, websocket.MessageBinary, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Why returns the code with which the other end closed the tunnel. It is empty if the tunnel
// is open or broke.
func (c *Conn) Why() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Moved returns how many bytes were read.
func (c *Conn) Moved() int64 { return c.moved.Load() }

// Keep pings the other end until ctx ends. An end that does not answer has gone, and the
// tunnel closes.
func (c *Conn) Keep(ctx context.Context) {
	for loop.Wait(ctx, pingEvery, nil) {
		ping, cancel := context.WithTimeout(ctx, pingWithin)
		err := c.socket.Ping(ping)
		cancel()
		if err != nil && ctx.Err() == nil {
			_ = c.Close() // it may have ended
			return
		}
	}
}

// End closes the tunnel and tells the other end why, by a code. It waits some seconds for an
// end that does not answer.
func (c *Conn) End(why string) {
	_ = c.socket.Close(ended, why) // it may have gone
	c.end()
}

// Close closes the tunnel at once.
func (c *Conn) Close() error {
	c.end()
	return c.socket.CloseNow()
}
