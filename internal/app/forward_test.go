package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/remote"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/inside/relay"
)

// echoes is a service on the PC: it sends back what it gets, and ends after its caller has.
func echoes(t *testing.T) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			group.Go(func() {
				_, _ = io.Copy(conn, conn) // its caller may go at any time
				_ = conn.Close()           // the same
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // never fails
		mu.Lock()
		for conn := range open {
			_ = conn.Close() // it may have ended
		}
		mu.Unlock()
		group.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// startPC starts an agent that talks to a server by HTTP, as weir agent does, with a device
// whose port 5555 is the service. The returned function ends the agent.
func (f *fort) startPC(name, serial string, port int) (end func()) {
	f.t.Helper()
	dir := f.t.TempDir()
	file := filepath.Join(dir, "devices.yaml")
	text := fmt.Sprintf("devices: [{serial: %s, labels: {echo: %q}}]\n", serial, fmt.Sprint(port))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	join, err := f.people.CreateJoin(f.t.Context(), system, auth.NewJoin{Node: name, Any: true})
	if err != nil {
		f.t.Fatal(err)
	}
	a, err := NewAgent(f.t.Context(), Config{Data: dir}.Defaults(), Target{Server: "http://" + f.listen}, AgentConfig{
		Node: name, Join: join, Dir: filepath.Join(dir, "agent"), Devices: file, Slots: map[string]int{"exec": 1},
		Forwards: []string{"5555={label.echo}", "5556={target}"},
	}, "test", slog.New(slog.NewTextHandler(f.log, nil)))
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx, ctx, nil) }()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(end)
	testwait.Until(f.t, "the PC says what it allows", func() bool {
		return f.text(`select count(*)::text from weir.pcs p join weir.devices d on d.node = p.node
			where p.forwards is not null and d.serial = $1 and d.online`, serial) == "1"
	})
	return end
}

// user is a client of the API with a token of a person.
func (f *fort) user(name string, scopes ...string) *remote.Client {
	f.t.Helper()
	secret, _ := f.token(name, scopes...)
	client, err := remote.New(remote.Config{Server: "http://" + f.listen, Token: secret})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(client.Close)
	return client
}

// forward opens a forward to port 5555.
func forwardTo(t *testing.T, c *remote.Client, serial string) (*tunnel.Conn, *relay.Session) {
	t.Helper()
	conn, err := c.Forward(t.Context(), serial, 5555, false)
	if err != nil {
		t.Fatal(err)
	}
	session, err := relay.OpenWith(conn, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // it may have ended
	return conn, session
}

func dialed(t *testing.T, s *relay.Session) net.Conn {
	t.Helper()
	conn, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the same
	return conn
}

// exchange sends bytes, says that no more follow, and expects all of them back.
func exchange(conn net.Conn, size int) error {
	sent := make([]byte, size)
	_, _ = rand.Read(sent) // never fails
	failed := make(chan error, 1)
	go func() {
		_, err := conn.Write(sent)
		if err == nil {
			err = conn.(relay.Half).CloseWrite()
		}
		failed <- err
	}()
	got, err := io.ReadAll(conn)
	if e := <-failed; e != nil {
		return e
	}
	if err != nil || !bytes.Equal(got, sent) {
		return fmt.Errorf("%d of %d bytes came back: %w", len(got), len(sent), err)
	}
	return nil
}

func reserve(t *testing.T, c *remote.Client, serial string) {
	t.Helper()
	in := &fleet.DeviceReservation{NamedDevice: fleet.NamedDevice{Serial: serial}}
	in.Body.Until = time.Now().Add(time.Hour)
	if _, err := fleet.Reserve.Call(t.Context(), c, in); err != nil {
		t.Fatal(err)
	}
}

func refusedForward(t *testing.T, c *remote.Client, serial string, port int, says string) {
	t.Helper()
	conn, err := c.Forward(t.Context(), serial, port, false)
	if err == nil {
		_ = conn.Close() // it should not be
	}
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("port %d of %s: %v, and not %q", port, serial, err, says)
	}
}

// F11: a forward is for the person who has the device, to the ports that its PC allows, and
// ends with the reservation.
func TestF11Forward(t *testing.T) {
	t.Parallel()
	f := besiege(t)
	f.add("olga", auth.Operator)
	f.add("otto", auth.Operator)
	f.add("vera", auth.Viewer)
	f.startPC("PC-1", "D-1", echoes(t))
	olga := f.user("olga", "*:*")
	refusedForward(t, f.user("vera", "*:*"), "D-1", 5555, "takes the role operator")
	refusedForward(t, f.user("olga", "device:*"), "D-1", 5555, "forward:submit")
	refusedForward(t, olga, "D-1", 5555, "is not reserved by you")
	refusedForward(t, olga, "D-9", 5555, "D-9")
	reserve(t, olga, "D-1")
	refusedForward(t, f.user("otto", "*:*"), "D-1", 5555, "is reserved by olga")
	refusedForward(t, olga, "D-1", 7000, "allows no forward to port 7000")
	refusedForward(t, olga, "D-1", 5556, "no address of its own")
	if conn, err := olga.Forward(t.Context(), "D-1", 5555, true); err == nil || !strings.Contains(err.Error(), "admin") {
		t.Errorf("an operator forces a forward: %v, %v", conn, err)
	}

	way, session := forwardTo(t, olga, "D-1")
	// One that reads nothing has as much under way as there is room for.
	slow := dialed(t, session)
	var stuck atomic.Int64
	go func() {
		for part := make([]byte, 1<<16); ; {
			n, err := slow.Write(part)
			stuck.Add(int64(n))
			if err != nil {
				return
			}
		}
	}()
	var last int64
	testwait.Until(t, "the slow connection has no more room", func() bool {
		was := last
		last = stuck.Load()
		return last > 0 && last == was
	})
	var group sync.WaitGroup
	for i := range 8 {
		conn := dialed(t, session)
		group.Go(func() {
			if err := exchange(conn, 4<<20+i); err != nil {
				t.Errorf("connection %d: %v", i, err)
			}
		})
	}
	group.Wait()
	if stuck.Load() > 64<<20 {
		t.Errorf("%d bytes were taken that nobody reads", stuck.Load())
	}

	if _, err := fleet.Release.Call(t.Context(), olga, &fleet.DeviceDecision{NamedDevice: fleet.NamedDevice{Serial: "D-1"}}); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadAll(slow)
	testwait.Until(t, "the forward ends with the reservation", func() bool { return session.Closed() && way.Why() != "" })
	if way.Why() != fleet.ForwardReservation {
		t.Errorf("it ended because of %q, and the connection with %v", way.Why(), err)
	}
	testwait.Until(t, "the end is recorded", func() bool {
		return f.text(`select count(*)::text from weir.events where kind = 'device' and type = 'unforwarded' and source like '%olga%'
			and data ->> 'why' = 'reservation' and (data ->> 'sent')::bigint > 30e6`) == "1"
	})
	if n := f.text(`select count(*)::text || (select count(*) from weir.forwards) from weir.events where kind = 'device' and type = 'forwarded'`); n != "10" {
		t.Errorf("the log has %s", n)
	}
}

// The agent is connected to another server than the user. The credentials of both are
// revoked one after the other.
func TestForwardOverTwoServers(t *testing.T) {
	t.Parallel()
	var there atomic.Pointer[url.URL]
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(there.Load()) }}).ServeHTTP(w, r)
	}))
	defer peer.Close()
	f := besiege(t, func(c *Config, _ *Options) { c.PeerURL = peer.URL })
	there.Store(&url.URL{Scheme: "http", Host: f.listen})
	other := besiegeOn(t, f.db)
	f.add("olga", auth.Operator)
	end := other.startPC("PC-1", "D-1", echoes(t))
	secret, token := f.token("olga", "*:*")
	olga, err := remote.New(remote.Config{Server: "http://" + f.listen, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(olga.Close)
	reserve(t, olga, "D-1")
	way, session := forwardTo(t, olga, "D-1")
	if err := exchange(dialed(t, session), 1<<20); err != nil {
		t.Error(err)
	}
	if err := f.people.RevokeToken(t.Context(), system, token.ID); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "a revoked token ends the forward", func() bool { return way.Why() == fleet.ForwardForbidden })
	olga = f.user("olga", "*:*", "device:*")
	way, _ = forwardTo(t, olga, "D-1")
	end()
	testwait.Until(t, "the forward ends with the agent", func() bool { return way.Why() == fleet.ForwardAgent })
	refusedForward(t, olga, "D-1", 5555, "does not answer")
}
