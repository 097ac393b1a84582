package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// ErrClosed is a session whose pipe has ended.
var ErrClosed = errors.New("the way into the workspace is closed")

// closeWithin is how long a direction may go on after the other one has ended.
const closeWithin = time.Minute

func config(close time.Duration) *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard  // whoever dials gets the error
	c.StreamOpenTimeout = 0   // Dial has a deadline of its own
	c.EnableKeepAlive = false // the engine at the other end of the pipe says when it is over
	c.ConnectionWriteTimeout = 30 * time.Second
	c.StreamCloseTimeout = close
	return c
}

// Session is our end of a pipe.
type Session struct{ mux *yamux.Session }

// Open begins a session. Closing it closes the pipe.
func Open(pipe io.ReadWriteCloser) (*Session, error) { return OpenWith(pipe, closeWithin) }

// OpenWith is Open where a direction of a connection may go on for the given time after the
// other one has ended.
func OpenWith(pipe io.ReadWriteCloser, half time.Duration) (*Session, error) {
	c := config(half)
	c.AcceptBacklog = 1 // it has no business to call us
	mux, err := yamux.Client(pipe, c)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return &Session{mux}, nil
}

// Close ends the session and its connections.
func (s *Session) Close() error { return s.mux.Close() }

// Closed says that nothing can be dialed any more.
func (s *Session) Closed() bool { return s.mux.IsClosed() }

// Done is closed when nothing can be dialed any more.
func (s *Session) Done() <-chan struct{} { return s.mux.CloseChan() }

// accepted is what the other end says when the port has taken the connection.
const accepted = 'y'

// Dial connects to the port. Nobody listening there is an error.
func (s *Session) Dial(ctx context.Context) (net.Conn, error) {
	stream, err := s.mux.OpenStream()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	conn := &connection{stream}
	// The context may end while the other end connects.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	var word [1]byte
	_, err = io.ReadFull(conn, word[:])
	if !stop() {
		return nil, context.Cause(ctx)
	}
	switch {
	case err != nil && s.Closed():
		return nil, errors.Join(ErrClosed, err, conn.Close())
	case err != nil || word[0] != accepted:
		return nil, errors.Join(errors.New("nothing listens in the workspace"), err, conn.Close())
	}
	return conn, nil
}

// connection ends at once when it is closed, for whoever waits for it, too.
type connection struct{ *yamux.Stream }

func (c *connection) Close() error {
	err := c.Stream.Close()
	return errors.Join(err, c.SetDeadline(time.Unix(1, 0)))
}

// CloseWrite tells the other end that no more follows; what it sends is still read.
func (c *connection) CloseWrite() error { return c.Stream.Close() }

// Serve connects whoever dials with a port of this machine, until the pipe ends.
func Serve(pipe io.ReadWriteCloser, port uint16) error {
	return ServeWith(pipe, Limits{Half: closeWithin}, func() (*net.TCPConn, error) { return dial(port) })
}

// Limits are those of a session.
type Limits struct {
	// Most is how many connections may be open at a time; more are refused. Zero means that
	// there is no such limit.
	Most int
	// Half is how long a direction may go on after the other one has ended.
	Half time.Duration
}

// ServeWith connects whoever dials with what dial reaches, until the pipe ends.
func ServeWith(pipe io.ReadWriteCloser, limits Limits, dial func() (*net.TCPConn, error)) error {
	mux, err := yamux.Server(pipe, config(limits.Half))
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	defer mux.Close()
	s := &serving{open: map[*net.TCPConn]struct{}{}}
	defer s.group.Wait()
	defer s.close() // a target that says nothing would wait for ever
	for {
		conn, err := mux.AcceptStream()
		if err != nil {
			_ = mux.Close() // ends the connections that are under way
			if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
				return nil
			}
			return fmt.Errorf("relay: %w", err)
		}
		if limits.Most > 0 && mux.NumStreams() > limits.Most {
			_ = conn.Close() // its end is the answer
			continue
		}
		s.group.Go(func() { s.carry(conn, dial) })
	}
}

// serving is what a session has under way.
type serving struct {
	group sync.WaitGroup

	mu   sync.Mutex
	over bool
	open map[*net.TCPConn]struct{}
}

// close ends the connections to targets.
func (s *serving) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for conn := range s.open {
		_ = conn.Close() // it may have ended
	}
}

// hold keeps a connection to a target until it is let go. False means that the session is
// over.
func (s *serving) hold(conn *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[conn] = struct{}{}
	return !s.over
}

func (s *serving) letGo(conn *net.TCPConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
}

// carry connects one. Each direction ends by itself, so that a side that has said all still
// gets its answer.
func (s *serving) carry(from *yamux.Stream, dial func() (*net.TCPConn, error)) {
	defer from.Close()
	to, err := dial()
	if err != nil {
		return // its end is the answer
	}
	defer to.Close()
	defer s.letGo(to)
	if !s.hold(to) {
		return
	}
	if _, err := from.Write([]byte{accepted}); err != nil {
		return
	}
	Join(&connection{from}, to)
}

// Half is a connection of which one direction can end before the other. What Dial returns is
// one, and so is a TCP connection.
type Half interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Join copies between two connections until both directions have ended. It closes both.
func Join(from, to Half) {
	both := make(chan struct{})
	go func() {
		defer close(both)
		carryOne(to, from)
	}()
	carryOne(from, to)
	<-both
	_ = from.Close() // both have ended
	_ = to.Close()   // the same
}

// carryOne copies one direction and passes its end on. A direction that broke ends the other
// one, because nothing that follows would be whole.
func carryOne(to, from Half) {
	if _, err := io.Copy(to, from); err != nil {
		_ = from.Close() // it may have ended
		_ = to.Close()   // the same
		return
	}
	_ = to.CloseWrite() // the same
}

// dial tries both addresses of the machine itself.
func dial(port uint16) (*net.TCPConn, error) {
	var errs []error
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, strconv.Itoa(int(port))), 10*time.Second)
		if err == nil {
			return conn.(*net.TCPConn), nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
