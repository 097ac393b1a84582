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

func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard  // whoever dials gets the error
	c.StreamOpenTimeout = 0   // Dial has a deadline of its own
	c.EnableKeepAlive = false // the engine at the other end of the pipe says when it is over
	c.ConnectionWriteTimeout = 30 * time.Second
	c.StreamCloseTimeout = time.Minute
	return c
}

// Session is our end of a pipe.
type Session struct{ mux *yamux.Session }

// Open begins a session. Closing it closes the pipe.
func Open(pipe io.ReadWriteCloser) (*Session, error) {
	c := config()
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

// Serve connects whoever dials with a port of this machine, until the pipe ends.
func Serve(pipe io.ReadWriteCloser, port uint16) error {
	mux, err := yamux.Server(pipe, config())
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	defer mux.Close()
	var group sync.WaitGroup
	defer group.Wait()
	for {
		conn, err := mux.AcceptStream()
		if err != nil {
			_ = mux.Close() // ends the connections that are under way
			if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
				return nil
			}
			return fmt.Errorf("relay: %w", err)
		}
		group.Go(func() { carry(conn, port) })
	}
}

// carry connects one.
func carry(from net.Conn, port uint16) {
	defer from.Close()
	to, err := dial(port)
	if err != nil {
		return // its end is the answer
	}
	defer to.Close()
	if _, err := from.Write([]byte{accepted}); err != nil {
		return
	}
	both := make(chan struct{})
	go func() {
		defer close(both)
		_, _ = io.Copy(to, from) // either side may go at any time
		_ = to.CloseWrite()
	}()
	_, _ = io.Copy(from, to) // the same
	_ = from.Close()
	_ = to.Close()
	<-both
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
