package proxy_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
)

// hand is a clock that the test moves.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// Two tabs of an editor are open for eleven minutes: one idle, with a keep-alive every 5
// s; in the other a person types. The workspace of the first is stopped, the other is not,
// and the reason is recorded.
func TestATabLeftOpenIsStopped(t *testing.T) {
	t.Parallel()
	clock := &hand{at: time.Now()}
	r := newRig(t, func(s *setup) { s.now = clock.now })
	ann, bob := r.user("ann", auth.Operator), r.user("bob", auth.Operator)
	idle, typing, keys := r.made(ann, "idle", "RUNNING", echo), r.made(ann, "typing", "RUNNING", echo), r.made(bob, "keys", "RUNNING", echo)
	r.exec(`update weir.workspaces set last_access_at = now() - interval '1 day'`)
	open := func(p *person, id weir.ID, protocols ...string) func(size int) {
		t.Helper()
		p.enter(id)
		conn, _, err := p.dial(id, nil, protocols...)
		r.ok(err)
		t.Cleanup(func() { _ = conn.CloseNow() })
		return func(size int) {
			t.Helper()
			r.ok(conn.Write(t.Context(), websocket.MessageBinary, []byte(strings.Repeat("x", size))))
			_, _, err := conn.Read(t.Context()) // the echo proves that it has passed
			r.ok(err)
		}
	}
	left, used, terminal := open(ann, idle), open(ann, typing), open(bob, keys, "weir.terminal")
	for second := 0; second < 11*60; second += 5 {
		for _, send := range []func(int){left, used} {
			send(13)
			if second%60 == 0 {
				send(75) // the editor's latency check
			}
		}
		if second%20 == 0 {
			terminal(1)
			for range 4 {
				used(90)
			}
		}
		clock.pass(5 * time.Second)
	}
	r.ok(r.meter.Store(t.Context()))
	r.exec(`select weir.workspace_expire()`)
	for id, want := range map[weir.ID][2]string{idle: {"STANDBY", "http"}, typing: {"RUNNING", "websocket"}, keys: {"RUNNING", "terminal"}} {
		if desired, source := scan[string](r, `select desired from weir.workspaces where id = $1`, id), scan[string](r, `select last_activity from weir.workspaces where id = $1`, id); desired != want[0] || source != want[1] {
			t.Errorf("%v: it is wanted %s, last used by %s", want, desired, source)
		}
	}
	if why := scan[string](r, `select message from weir.events where type = 'wanted' and subject = $1`, idle.String()); !strings.Contains(why, "nobody used it for 00:1") || !strings.HasSuffix(why, "last: http") {
		t.Errorf("it says %q", why)
	}
}
