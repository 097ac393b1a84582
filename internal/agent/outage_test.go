package agent_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/node"
)

// far is a transport whose server is away for a while: no call is answered, and none has
// an effect.
type far struct {
	agent.Transport
	away atomic.Bool
	// logs counts the pieces of logs that were sent to a server that is away.
	logs atomic.Int64
}

func (f *far) err() error {
	if f.away.Load() {
		return context.DeadlineExceeded
	}
	return nil
}

func (f *far) Heartbeat(ctx context.Context) (o node.Orders, err error) {
	if err = f.err(); err == nil {
		o, err = f.Transport.Heartbeat(ctx)
	}
	return o, err
}

func (f *far) Claim(ctx context.Context, r node.ClaimRequest) (c node.Claimed, err error) {
	if err = f.err(); err == nil {
		c, err = f.Transport.Claim(ctx, r)
	}
	return c, err
}

func (f *far) Renew(ctx context.Context, l []node.Lease, length time.Duration) (r []node.Refusal, err error) {
	if err = f.err(); err == nil {
		r, err = f.Transport.Renew(ctx, l, length)
	}
	return r, err
}

func (f *far) Report(ctx context.Context, told node.Told) (h node.Heard, err error) {
	if err = f.err(); err == nil {
		h, err = f.Transport.Report(ctx, told)
	} else if len(told.Logs) > 0 {
		f.logs.Add(1)
	}
	return h, err
}

func (f *far) AppendLog(ctx context.Context, l node.Lease, c node.LogChunk) error {
	if err := f.err(); err != nil {
		f.logs.Add(1)
		return err
	}
	return f.Transport.AppendLog(ctx, l, c)
}

// Work goes on while nothing answers, for as long as the node keeps it, and so does the
// agent. What it reported meanwhile and its end arrive afterwards, in order. A step that
// is not kept ends with its lease, and is done again.
func TestWorkGoesOnWithoutContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 2})
	server := &far{Transport: c.Transport}
	c.Transport, c.Lease, c.Keep, c.Patience, c.Poll = server, 2*time.Second, time.Minute, time.Second, time.Second
	w.run(c)
	wait := `n=0; while [ ! -e "$TRACE.go" ] && [ "$WEIR_ATTEMPT" = 1 ]; do n=$((n+1)); echo "::event info tick $n"; echo "line $n"; sleep 0.2; done; echo "::result {\"n\": $n}"`
	env := map[string]string{"TRACE": w.folder + "/trace"}
	job := w.submit(sh("kept", wait).running("env", env),
		sh("left", wait).running("env", env).running("disconnect", map[string]any{"keep": "0s"}))
	w.running(job, "kept")
	w.running(job, "left")
	w.until("the leases of the two differ", func() bool {
		return one[int](w, `select count(*) from weir.running where until > clock_timestamp() + interval '30 s'`) == 1
	})
	server.away.Store(true)
	w.until("the lease of the other is over", func() bool {
		return one[int](w, `select count(*) from weir.running where until < clock_timestamp()`) == 1 || one[int](w, `select count(*) from weir.events where type = 'expired'`) == 1
	})
	since := time.Now() // longer than a lease, and than an agent without work waits
	w.until("two more leases have passed", func() bool { return time.Since(since) > 2*c.Lease })
	if err := os.WriteFile(w.folder+"/trace.go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.gone(job)
	server.away.Store(false)
	kept := w.end(job, "kept")
	if kept.State != "done" || kept.Attempt != 1 {
		t.Errorf("got %+v", kept)
	}
	if left := w.end(job, "left"); left.State != "done" || left.Attempt != 2 {
		t.Errorf("got %+v", left)
	}
	ticks := one[string](w, `select coalesce(string_agg(e.message, ', ' order by e.seq), '') from weir.events e join weir.tasks q on q.id = e.task
		where q.job = $1 and q.key = 'kept' and e.message like 'tick %'`, job)
	n := strings.Count(ticks, "tick")
	if got := one[int](w, `select (f.result ->> 'n')::int from weir.finished f join weir.tasks q on q.id = f.task where q.job = $1 and q.key = 'kept'`, job); got != n || n < 20 {
		t.Errorf("of %d events %d are there: %s", got, n, ticks)
	}
	// The lease goes before the log: half a lease after the last renewal no piece is sent.
	if got := server.logs.Load(); got > 6 {
		t.Errorf("%d pieces of logs were sent to a server that was away", got)
	}
}
