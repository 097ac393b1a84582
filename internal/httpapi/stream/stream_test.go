package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/httpapi/stream"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/timeline"
)

func types(list []message) (out []string) {
	for _, m := range list {
		out = append(out, m.event)
	}
	return out
}

func ids(list []message) (out []string) {
	for _, m := range list {
		out = append(out, m.id)
	}
	return out
}

// submitAndWork runs a short life: submitted, claimed, done.
func (s *server) submitAndWork(n int) {
	s.t.Helper()
	s.exec(`select count(*) from weir.submit_many((select jsonb_agg('{"service": "s"}'::jsonb) from generate_series(1, $1)))`, n)
	s.exec(`select weir.finish_many(array_agg(c.task), array_agg(c.attempt), array_agg(c.token)) from weir.claim('w', '{s}', $1) c`, n)
}

func TestEventsArriveAndAStreamGoesOnWhereItBrokeOff(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) {
			s := start(t, option{http2: http2})
			if http2 {
				s.speaksHTTP2()
			}
			viewer, _, _ := s.token(auth.Viewer)
			c, first := s.stream(viewer, "?kind=task", "")
			head := c.answer.Header
			if head.Get("Content-Type") != "text/event-stream" || head.Get("Cache-Control") != "no-store" || head.Get("X-Accel-Buffering") != "no" ||
				(c.answer.ProtoMajor == 2) != http2 || len(c.answer.TransferEncoding) != 0 {
				t.Errorf("%s %v %v", c.answer.Proto, c.answer.TransferEncoding, head)
			}
			s.submitAndWork(4)
			all := c.events(12)
			if got := types(all); !slices.Equal(slices.Compact(got), []string{"submitted", "claimed", "done"}) {
				t.Errorf("got %v", got)
			}
			if e := all[4].data; e.Kind != "task" || e.Worker != "w" || e.Attempt != 1 || e.Subject != e.Task.String() || e.Level != "info" || time.Since(e.At) > time.Hour {
				t.Errorf("got %+v", e)
			}
			for i := range all {
				rest, _ := s.stream(viewer, "?kind=task&after="+first.id, all[i].id) // the header wins
				if got := ids(rest.events(11 - i)); !slices.Equal(got, ids(all[i+1:])) {
					t.Errorf("after %s: %v", all[i].id, got)
				}
				rest.close()
			}
			again, _ := s.stream(viewer, "?kind=task&after="+first.id, "")
			if got := ids(again.events(12)); !slices.Equal(got, ids(all)) {
				t.Errorf("from the beginning: %v", got)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	var job, task weir.ID
	if err := s.db.Pool.QueryRow(t.Context(), `select weir.submit_job('[{"service": "s"}, {"service": "s"}]', 'j')`).Scan(&job); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Pool.QueryRow(t.Context(), `select weir.submit('s')`).Scan(&task); err != nil {
		t.Fatal(err)
	}
	s.exec(`select weir.set_pool('p', 3)`)
	s.exec(`select weir.cancel($1)`, task)
	for query, want := range map[string][]string{
		"job=" + job.String():             {"submitted", "submitted", "submitted"},
		"task=" + task.String():           {"submitted", "canceled"},
		"kind=pool":                       {"set"},
		"kind=pool&type=":                 {"set"},
		"type=canceled":                   {"canceled"},
		"type=canceled&type=set":          {"set", "canceled"},
		"kind=job&job=" + job.String():    {"submitted"},
		"kind=task&task=" + task.String(): {"submitted", "canceled"},
	} {
		c, _ := s.stream(viewer, "?after=0.0&"+query, "")
		if got := types(c.events(len(want))); !slices.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
		c.close()
	}
}

func TestFoldDropsWhatLeavesTheStateAsItWas(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	all, _ := s.stream(viewer, "?kind=task", "")
	c, _ := s.stream(viewer, "?kind=task&fold=state", "")
	var task, token weir.ID
	if err := s.db.Pool.QueryRow(t.Context(), `select weir.submit('s', hold => 'wait')`).Scan(&task); err != nil {
		t.Fatal(err)
	}
	s.exec(`select weir.hold($1, 'again')`, task) // pending as before
	s.exec(`select weir.release($1)`, task)
	if err := s.db.Pool.QueryRow(t.Context(), `select token from weir.claim('w', '{s}')`).Scan(&token); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"progress", "progress"} {
		s.exec(`select weir.record($1, 1, $2, $3)`, task, token, kind)
	}
	s.exec(`select weir.finish($1, 1, $2)`, task, token)
	seen := types(all.events(8))
	if seen[len(seen)-1] != "done" || !slices.Contains(seen, "held") || !slices.Contains(seen, "progress") {
		t.Errorf("without: %v", seen)
	}
	if got := types(c.events(4)); !slices.Equal(got, []string{"gated", "opened", "claimed", "done"}) {
		t.Errorf("got %v", got)
	}
}

func TestTheAuditIsForAdminsOnly(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	admin, _, _ := s.token(auth.Admin)
	plain, _ := s.stream(viewer, "", "")
	full, _ := s.stream(admin, "", "")
	if err := s.auth.Audit(t.Context(), auth.System("test"), "exec", "somebody looked", nil); err != nil {
		t.Fatal(err)
	}
	s.exec(`select weir.set_pool('p', 3)`)
	if got := full.events(2); got[0].data.Kind != "auth" || got[0].event != "exec" || got[1].event != "set" {
		t.Errorf("an admin sees %v", types(got))
	}
	if got := plain.events(1); got[0].event != "set" {
		t.Errorf("a viewer sees %v", types(got))
	}
	asked, _ := s.stream(viewer, "?kind=auth&kind=pool&after=0.0", "")
	if got := asked.events(1); got[0].event != "set" {
		t.Errorf("a viewer who asks for it sees %v", types(got))
	}
}

func TestAStreamEndsWhenItsTokenDoes(t *testing.T) {
	s := start(t, option{config: stream.Config{Recheck: 5 * time.Millisecond, Beat: time.Hour}})
	secret, token, user := s.token(auth.Viewer)
	gone, _ := s.stream(secret, "", "")
	kept, _, _ := s.token(auth.Viewer)
	stays, _ := s.stream(kept, "?kind=pool", "")
	if err := s.auth.RevokeToken(t.Context(), user, token.ID); err != nil {
		t.Fatal(err)
	}
	gone.ends()
	s.exec(`select weir.set_pool('p', 3)`)
	stays.events(1)
	if status, p := s.open(secret, "", "").problem(); status != http.StatusUnauthorized || p.Code != "unauthenticated" {
		t.Errorf("then %d %+v", status, p)
	}
}

// A lower role takes effect on an open stream.
func TestPermissionIsLookedUpAgain(t *testing.T) {
	s := start(t, option{config: stream.Config{Recheck: 5 * time.Millisecond, Beat: time.Hour}})
	_, _, boss := s.token(auth.Admin)
	secret, _, user := s.token(auth.Admin)
	c, _ := s.stream(secret, "", "")
	if err := s.auth.SetRole(t.Context(), boss, user.Name, auth.Viewer); err != nil {
		t.Fatal(err)
	}
	s.exec(`select weir.set_pool('p', 1)`)
	for deadline, n := time.Now().Add(testwait.Limit), 2; ; n++ {
		if err := s.auth.Audit(t.Context(), auth.System("test"), "exec", "somebody looked", nil); err != nil {
			t.Fatal(err)
		}
		s.exec(`select weir.set_pool('p', $1)`, n)
		var got []string
		for !slices.Contains(got, "set") {
			got = append(got, types(c.events(1))...)
		}
		if n > 2 && !slices.Contains(got, "exec") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it still sees the audit")
		}
	}
}

func TestWhoGetsNoStream(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	for name, c := range map[string]struct {
		token, query, last string
		status             int
		code, field        string
	}{
		"nobody":          {"", "", "", 401, "unauthenticated", ""},
		"bad token":       {"weir_pat_nonsense", "", "", 401, "unauthenticated", ""},
		"bad after":       {viewer, "?after=yesterday", "", 422, "invalid", "after"},
		"bad header":      {viewer, "?after=0.0", "x", 422, "invalid", "after"},
		"future":          {viewer, "", "999999999999.1", 409, "conflict", ""},
		"bad job":         {viewer, "?job=1", "", 422, "invalid", "job"},
		"bad task":        {viewer, "?task=" + strings.Repeat("x", 5000), "", 422, "invalid", "task"},
		"bad fold":        {viewer, "?fold=all", "", 422, "invalid", "fold"},
		"unknown":         {viewer, "?jobs=1", "", 422, "invalid", "jobs"},
		"twice":           {viewer, "?job=&job=", "", 422, "invalid", "job"},
		"too many":        {viewer, "?" + strings.Repeat("type=a&", 60), "", 422, "invalid", "type"},
		"bad escape":      {viewer, "?type=%zz", "", 422, "invalid", "query"},
		"semicolon":       {viewer, "?a;b", "", 422, "invalid", "query"},
		"header too long": {viewer, "", strings.Repeat("9", 4000), 422, "invalid", "after"},
	} {
		status, p := s.open(c.token, c.query, c.last).problem()
		if status != c.status || p.Code != c.code || p.Field != c.field || p.Detail == "" || len(p.Detail) > 300 {
			t.Errorf("%s: %d %+v", name, status, p)
		}
	}
	if n := s.streams.Streams(); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestHistoryThatWasDroppedIsGone(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	s.exec(`update weir.schema_version set applied_at = applied_at - interval '1 year'`)
	s.exec(`select weir.set_pool('p', 3)`)
	if status, p := s.open(viewer, "", "1.1").problem(); status != http.StatusGone || p.Code != "stale" || !strings.Contains(p.Next, "afresh") {
		t.Errorf("got %d %+v", status, p)
	}
}

func TestLimits(t *testing.T) {
	s := start(t, option{config: stream.Config{MaxStreams: 3, MaxPerSubject: 2}})
	one, _, _ := s.token(auth.Viewer)
	two, _, _ := s.token(auth.Viewer)
	first, _ := s.stream(one, "", "")
	s.stream(one, "", "")
	c := s.open(one, "", "")
	if status, p := c.problem(); status != http.StatusTooManyRequests || p.Code != "throttled" || c.answer.Header.Get("Retry-After") == "" {
		t.Errorf("a third of one: %d %+v", status, p)
	}
	s.stream(two, "", "")
	c = s.open(two, "", "")
	if status, p := c.problem(); status != http.StatusServiceUnavailable || p.Code != "unreachable" || c.answer.Header.Get("Retry-After") == "" {
		t.Errorf("a fourth in all: %d %+v", status, p)
	}
	first.close()
	testwait.Until(t, "a stream that was closed leaves its seat", func() bool { return s.streams.Streams() < 3 })
	s.stream(one, "", "")
}

// Beats come while nothing happens and while events flow, also beyond the server's
// timeouts for requests.
func TestBeatsAndTheServersTimeouts(t *testing.T) {
	s := start(t, option{
		config: stream.Config{Beat: 10 * time.Millisecond},
		server: func(h *http.Server) { h.ReadTimeout, h.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond },
	})
	viewer, _, _ := s.token(auth.Viewer)
	c, first := s.stream(viewer, "?kind=pool", "")
	s.submitAndWork(1) // filtered out, but the place moves past it
	moved := false
	for range 30 { // 300 ms
		m := c.next()
		if m.comment != "beat" || m.id == "" || m.event != "" {
			t.Fatalf("got %+v", m)
		}
		moved = moved || m.id != first.id
	}
	for deadline := time.Now().Add(testwait.Limit); !moved; {
		moved = c.next().id != first.id
		if time.Now().After(deadline) {
			t.Fatal("beats do not carry the place")
		}
	}
	s.exec(`select weir.set_pool('p', 3)`)
	if got := c.events(1); got[0].event != "set" {
		t.Errorf("got %v", types(got))
	}
}

// A client that does not read is disconnected by the write timeout, and delays no other
// client. It continues where it was.
func TestAClientThatDoesNotReadIsClosed(t *testing.T) {
	s := start(t, option{config: stream.Config{WriteTimeout: time.Second}, hub: timeline.Options{Events: 100}})
	viewer, _, _ := s.token(auth.Viewer)
	stuck, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	if err := stuck.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(stuck, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", viewer)
	good, first := s.stream(viewer, "?kind=task", "")
	testwait.Until(t, "the second stream opens", func() bool { return s.streams.Streams() == 2 })
	seen := make(chan int)
	go func() {
		n := 0
		for m, err := good.read(); err == nil; m, err = good.read() {
			if m.event != "" {
				n++
			}
		}
		seen <- n
	}()
	sent := 0
	testwait.Until(t, "the client that does not read is closed", func() bool {
		if sent < 30_000 { // more than a socket buffers
			s.submitAndWork(2000)
			sent += 6000
		}
		return s.streams.Streams() < 2
	})
	if s.streams.Streams() != 1 {
		t.Error("the client that reads is closed too")
	}
	good.close()
	if n := <-seen; n == 0 {
		t.Error("the client that reads saw nothing")
	}
	t.Logf("closed after %d events", sent)
	again, _ := s.stream(viewer, "?kind=task", first.id)
	again.events(3000)
}

func TestAShutdownEndsStreamsAtOnce(t *testing.T) {
	s := start(t, option{config: stream.Config{Beat: time.Hour}})
	viewer, _, _ := s.token(auth.Viewer)
	var clients []*client
	for range 20 {
		c, _ := s.stream(viewer, "", "")
		clients = append(clients, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit)
	defer cancel()
	if err := s.Config.Shutdown(ctx); err != nil {
		t.Errorf("the server does not stop: %v", err)
	}
	for _, c := range clients {
		c.ends()
	}
	if n := s.hub.Followers(); n != 0 {
		t.Errorf("%d still follow", n)
	}
}

func TestAClosedHandlerRefuses(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	s.streams.Close()
	if status, p := s.open(viewer, "", "").problem(); status != http.StatusServiceUnavailable || p.Code != "unreachable" {
		t.Errorf("got %d %+v", status, p)
	}
}

func TestAStreamOutlivesItsConnections(t *testing.T) {
	s := start(t, option{})
	viewer, _, _ := s.token(auth.Viewer)
	c, _ := s.stream(viewer, "?kind=pool", "")
	for n := range 5 {
		s.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		for deadline := time.Now().Add(testwait.Limit); ; {
			_, err := s.db.Pool.Exec(t.Context(), `select weir.set_pool('p', $1)`, n)
			if err == nil {
				break
			}
			if time.Now().After(deadline) || errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if got := c.events(1); got[0].event != "set" {
			t.Errorf("got %v", types(got))
		}
	}
}

// A disabled user gets no event that happens afterwards, however long it is until the
// next check, and whether or not the stream is about that event.
func TestNothingComesAfterTheUserIsDisabled(t *testing.T) {
	s := start(t, option{config: stream.Config{Recheck: time.Hour, Beat: time.Hour}, hub: timeline.Options{Mark: stream.Ends}})
	secret, _, user := s.token(auth.Operator)
	kept, _, _ := s.token(auth.Viewer)
	plain, _ := s.stream(secret, "", "")
	narrow, _ := s.stream(secret, "?kind=pool", "")
	stays, _ := s.stream(kept, "?kind=pool", "")
	if err := s.auth.Disable(t.Context(), auth.System("test"), user.Name); err != nil {
		t.Fatal(err)
	}
	s.exec(`select weir.set_pool('p', 3)`)
	stays.events(1)
	for name, c := range map[string]*client{"plain": plain, "narrow": narrow} {
		if rest, err := io.ReadAll(c.lines); err != nil || strings.Contains(string(rest), "data:") {
			t.Errorf("%s: after the user was disabled came %q, %v", name, rest, err)
		}
	}
}
