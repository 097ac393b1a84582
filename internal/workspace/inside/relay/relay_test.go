package relay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside/relay"
)

func TestMain(m *testing.M) { os.Exit(testwait.Ended(m.Run())) }

// end is one end of a pipe.
type end struct {
	*io.PipeReader
	out *io.PipeWriter
}

func (e end) Write(b []byte) (int, error) { return e.out.Write(b) }
func (e end) Close() error                { return errors.Join(e.PipeReader.Close(), e.out.Close()) }

// open connects a session with a port, as two processes would be.
func open(t *testing.T, port uint16) *relay.Session {
	t.Helper()
	there, out := io.Pipe()
	here, in := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- relay.Serve(end{there, in}, port) }()
	session, err := relay.Open(end{here, out})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close() // it may be closed
		_ = out.Close()     // never fails
		// Its last word may meet the pipe that was closed above.
		if err := <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the other end: %v", err)
		}
	})
	return session
}

func portOf(t *testing.T, address string) uint16 {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// Many connections at once, each with its own bytes.
func TestManyConnections(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // whoever asked has gone otherwise
	}))
	defer server.Close()
	session := open(t, portOf(t, server.Listener.Addr().String()))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return session.Dial(ctx) }}}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			sent := make([]byte, 1<<20+i)
			_, _ = rand.Read(sent) // never fails
			answer, err := client.Post("http://workspace/", "", bytes.NewReader(sent))
			if err != nil {
				t.Error(err)
				return
			}
			got, err := io.ReadAll(answer.Body)
			if err := errors.Join(err, answer.Body.Close()); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d: %d bytes came back of %d, %v", i, len(got), len(sent), err)
			}
		})
	}
	group.Wait()
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := portOf(t, listener.Addr().String())
	_ = listener.Close() // now nobody does
	session := open(t, port)
	if conn, err := session.Dial(t.Context()); err == nil {
		_ = conn.Close() // it should not be
		t.Fatal("it has reached somebody")
	}
	if session.Closed() {
		t.Error("the session has ended with that")
	}
}

// A connection ends on both sides whichever closes first.
func TestEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	session := open(t, portOf(t, listener.Addr().String()))
	for _, first := range []string{"ours", "theirs"} {
		ours, err := session.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		closes, other := ours, net.Conn(theirs)
		if first == "theirs" {
			closes, other = theirs, ours
		}
		_ = closes.Close() // so that the other sees it
		if err := other.SetDeadline(time.Now().Add(testwait.Limit)); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s closed, and the other read %v", first, err)
		}
		_ = other.Close() // the same
	}
}

// Closing a connection ends the read that somebody waits in.
func TestCloseWakes(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	session := open(t, portOf(t, listener.Addr().String()))
	conn, err := session.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = conn.Read(make([]byte, 1)) // it ends, whichever way
	}()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the read ends", func() bool {
		select {
		case <-read:
			return true
		default:
			return false
		}
	})
}

// When the pipe ends, so does everything, and it is told as that.
func TestThePipeEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	session := open(t, portOf(t, listener.Addr().String()))
	conn, err := session.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
	if _, err := session.Dial(t.Context()); !errors.Is(err, relay.ErrClosed) {
		t.Errorf("dialing says %v", err)
	}
}

// Whatever a workspace writes on its end is its own loss: no connection comes of it, and
// whoever dials is told in time.
func TestAnEndThatLies(t *testing.T) {
	for i, text := range []string{"", "garbage, and a lot of it, which is no frame at all", "\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			there, out := io.Pipe()
			here, in := io.Pipe()
			session, err := relay.Open(end{here, out})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = session.Close() // it may be closed
				_ = there.Close()   // never fails
				_ = in.Close()      // never fails
			}()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			go func() { _, _ = io.WriteString(in, text) }()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if conn, err := session.Dial(ctx); err == nil {
				_ = conn.Close() // it should not be
				t.Error("it has reached somebody")
			}
		})
	}
}
