package stream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/timeline"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// server is a database, a hub, the door and the handler behind real HTTP.
type server struct {
	t       *testing.T
	db      *testdb.DB
	auth    *auth.Store
	hub     *timeline.Hub
	streams *stream.Handler
	*httptest.Server
}

type option struct {
	config stream.Config
	hub    timeline.Options
	http2  bool
	server func(*http.Server)
}

func start(t *testing.T, o option) *server {
	t.Helper()
	s := &server{t: t, db: testdb.New(t)}
	s.auth = auth.New(s.db.Pool, auth.Options{})
	o.hub.Gap = time.Millisecond
	s.hub = timeline.NewHub(s.db.Pool, nil, o.hub)
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { s.hub.Run(ctx) })
	d, err := door.New(s.auth, door.Config{})
	if err != nil {
		t.Fatal(err)
	}
	o.config.Hub, o.config.Subject = s.hub, d.Subject
	o.config.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.streams = stream.New(o.config)
	s.Server = httptest.NewUnstartedServer(d.Wrap(s.streams))
	s.Config.RegisterOnShutdown(s.streams.Close)
	if o.server != nil {
		o.server(s.Config)
	}
	if o.http2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.streams.Close()
		s.Close()
		cancel()
		run.Wait()
	})
	return s
}

// token creates a user with a role and a token of it.
func (s *server) token(role auth.Role) (secret string, token auth.Token, user auth.Subject) {
	s.t.Helper()
	name := fmt.Sprintf("%s%d", role, time.Now().UnixNano())
	u, err := s.auth.CreateUser(s.t.Context(), auth.System("test"), auth.NewUser{Name: name, Role: role, Password: "correct horse battery"})
	if err != nil {
		s.t.Fatal(err)
	}
	user = auth.Subject{Kind: auth.KindUser, ID: u.ID, UserID: u.ID, Name: u.Name, Role: role}
	token, secret, err = s.auth.CreateToken(s.t.Context(), user, auth.NewToken{Name: "t", Scopes: []string{"*:*"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.db.Settle(s.t) // a stream begins behind the events of the token
	return secret, token, user
}

func (s *server) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Pool.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// message is one block of a stream.
type message struct {
	id, event, comment, retry string
	data                      view.Event
}

// client reads one stream.
type client struct {
	t      *testing.T
	answer *http.Response
	lines  *bufio.Reader
	cancel func()
}

// open requests a stream and returns the answer, whatever it is.
func (s *server) open(token, query, last string) *client {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &client{t: s.t, answer: answer, lines: bufio.NewReader(answer.Body), cancel: cancel}
	s.t.Cleanup(c.close)
	return c
}

// stream opens a stream, which must begin.
func (s *server) stream(token, query, last string) (c *client, first message) {
	s.t.Helper()
	c = s.open(token, query, last)
	if c.answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(c.answer.Body)
		s.t.Fatalf("%s: %s", c.answer.Status, text)
	}
	first = c.next()
	if first.retry != "1000" || first.id == "" || first.event != "" {
		s.t.Errorf("a stream begins with %+v", first)
	}
	return c, first
}

func (c *client) close() {
	c.cancel()
	c.answer.Body.Close()
}

// read reads one block, as a browser does.
func (c *client) read() (m message, err error) {
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return m, err
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if line == "" {
				return m, nil
			}
			m.comment = value
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "retry":
			m.retry = value
		case "data":
			d := json.NewDecoder(strings.NewReader(value))
			d.DisallowUnknownFields()
			if err := d.Decode(&m.data); err != nil {
				return m, fmt.Errorf("%s: %w", value, err)
			}
		default:
			return m, fmt.Errorf("a line %q", line)
		}
	}
}

func (c *client) next() message {
	c.t.Helper()
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// events reads n events, without heartbeats.
func (c *client) events(n int) (list []message) {
	c.t.Helper()
	for len(list) < n {
		if m := c.next(); m.event != "" {
			if m.id != m.data.Cursor || m.event != m.data.Type {
				c.t.Errorf("an event %+v", m)
			}
			list = append(list, m)
		}
	}
	return list
}

// ends reads until the server ends the stream.
func (c *client) ends() {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			if c.answer.Request.Context().Err() != nil {
				c.t.Error("the stream does not end")
			}
			return
		}
	}
}

// problem returns the refusal that comes instead of a stream.
func (c *client) problem() (status int, p struct{ Code, Detail, Next, Field string }) {
	c.t.Helper()
	if kind := c.answer.Header.Get("Content-Type"); kind != "application/problem+json" {
		c.t.Errorf("%s of type %s", c.answer.Status, kind)
	}
	if err := json.NewDecoder(c.answer.Body).Decode(&p); err != nil {
		c.t.Fatal(err)
	}
	return c.answer.StatusCode, p
}

// speaksHTTP2 makes the client of the test server use HTTP/2.
func (s *server) speaksHTTP2() {
	transport := s.Client().Transport.(*http.Transport)
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // #nosec G402 -- a test of this process with itself
	transport.ForceAttemptHTTP2 = true
}
