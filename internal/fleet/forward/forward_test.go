package forward

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// serve starts a server with a broker on a database with one device.
func serve(t *testing.T, c Config) (*Broker, *httptest.Server) {
	t.Helper()
	db := testdb.New(t)
	c.Store = fleet.New(db.Pool)
	if _, err := db.Pool.Exec(t.Context(), `select weir.fleet_report('PC-1', '[{"serial": "D-1"}]', slots => 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Store.ForwardOrders(t.Context(), "PC-1", "5555"); err != nil {
		t.Fatal(err)
	}
	b := New(c)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, r *http.Request) {
		s, err := b.Open(r.Context(), fleet.ForwardRequest{Serial: "D-1", Port: 5555, Force: true, Who: auth.System("test")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		user, err := tunnel.Accept(w, r)
		if err != nil {
			s.Drop()
			return
		}
		s.Carry(r.Context(), user, func(context.Context) error { return nil })
	})
	mux.HandleFunc("GET /agent/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := weir.ParseID(r.PathValue("id"))
		if err != nil {
			t.Error(err)
			return
		}
		s, _, err := b.Join(r.Context(), r.URL.Query().Get("pc"), id)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		agent, err := tunnel.Accept(w, r)
		if err != nil {
			s.Untake()
			return
		}
		s.Attach(agent)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		b.Close()
		server.Close()
	})
	return b, server
}

// takeUp is an agent that takes up the next forward and carries nothing.
func takeUp(t *testing.T, b *Broker, server *httptest.Server) <-chan *tunnel.Conn {
	t.Helper()
	out := make(chan *tunnel.Conn, 1)
	go func() {
		defer close(out)
		orders, err := b.Orders(t.Context(), "PC-1", "5555", time.Minute)
		if err != nil || len(orders) != 1 {
			t.Errorf("%+v %v", orders, err)
			return
		}
		at := server.URL + "/agent/" + orders[0].ID.String()
		if conn, answer, err := tunnel.Dial(t.Context(), server.Client(), at+"?pc=PC-2", nil); err == nil {
			_ = conn.Close() // it should not be
			t.Errorf("another PC takes up the forward: %s", answer.Status)
		}
		conn, _, err := tunnel.Dial(t.Context(), server.Client(), at+"?pc=PC-1", nil)
		if err != nil {
			t.Error(err)
			return
		}
		out <- conn
	}()
	return out
}

// A forward that carries nothing ends, and only the agent of its PC takes it up.
func TestIdleForwardEnds(t *testing.T) {
	t.Parallel()
	b, server := serve(t, Config{Check: 10 * time.Millisecond, Idle: 50 * time.Millisecond, Poll: 10 * time.Millisecond})
	taken := takeUp(t, b, server)
	user, _, err := tunnel.Dial(t.Context(), server.Client(), server.URL+"/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if agent := <-taken; agent != nil {
		defer agent.Close()
	}
	if n, err := user.Read(make([]byte, 1)); err == nil || user.Why() != fleet.ForwardIdle {
		t.Errorf("%d bytes, %v, because of %q", n, err, user.Why())
	}
}

// A server that stops ends its forwards and records that.
func TestForwardEndsWithTheServer(t *testing.T) {
	t.Parallel()
	b, server := serve(t, Config{Check: time.Hour, Poll: 10 * time.Millisecond})
	taken := takeUp(t, b, server)
	user, _, err := tunnel.Dial(t.Context(), server.Client(), server.URL+"/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if agent := <-taken; agent != nil {
		defer agent.Close()
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		b.Close()
	}()
	_, err = user.Read(make([]byte, 1))
	if user.Why() != fleet.ForwardStopping {
		t.Errorf("%v, because of %q", err, user.Why())
	}
	testwait.Until(t, "the broker is closed", func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	})
}

// An agent that does not answer is named.
func TestNoAgentTakesItUp(t *testing.T) {
	t.Parallel()
	b, _ := serve(t, Config{Take: 50 * time.Millisecond, Poll: 10 * time.Millisecond})
	_, err := b.Open(t.Context(), fleet.ForwardRequest{Serial: "D-1", Port: 5555, Force: true, Who: auth.System("test")})
	if err == nil || !strings.Contains(err.Error(), "the agent of PC PC-1 did not take up the forward in time") {
		t.Errorf("%v", err)
	}
}
