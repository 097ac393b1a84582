package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// stubborn ignores every request to end, forks, and has a child that leaves its group and
// its session and closes its files.
const stubborn = `trap '' TERM INT HUP
setsid sh -c 'trap "" TERM; exec >&- 2>&- <&-; while :; do sleep 0.05; done' &
(trap '' TERM; while :; do sleep 0.05; done) &
echo begun
while :; do sleep 0.05; done`

func TestACanceledStepIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 2}))
	for name, script := range map[string]string{
		"polite":   `trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.02; done`,
		"stubborn": stubborn,
	} {
		job := w.submit(sh(name, script))
		w.until("it has begun", func() bool { return len(w.logOf(job, name, 1)) > 0 })
		one[bool](w, `select weir.cancel($1, by => 'ann') is not null`, w.task(job, name).ID)
		if got := w.end(job, name); got.State != "canceled" {
			t.Errorf("%s: got %+v", name, got)
		}
		w.gone(job)
		if log := strings.Join(w.logOf(job, name, 1), "\n"); name == "polite" && !strings.Contains(log, "bye") {
			t.Errorf("it had no time to say goodbye: %s", log)
		}
	}
}

// Every process that work leaves behind when its first process ends is killed.
func TestWorkLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.run(w.config("n1", map[string]int{"sh": 1}))
	job := w.submit(sh("a", `setsid sh -c 'trap "" TERM; touch "$WEIR_OUT/up"; while :; do sleep 0.05; done' & sleep 60 &
		until test -e "$WEIR_OUT/up"; do sleep 0.01; done; echo '::result "fine"'`))
	if got := w.end(job, "a"); got.State != "done" || got.Result != `"fine"` {
		t.Errorf("got %+v", got)
	}
	w.gone(job)
	if s := a.Stats(); s.Done != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.config("n1", map[string]int{"sh": 4}))
	job := w.submit(
		sh("run", `echo words >&2; while :; do sleep 0.05; done`).with("timeout", "2 s"),
		sh("silent", `echo once; while :; do sleep 0.05; done`).running("timeout", map[string]string{"heartbeat": "1s"}),
		sh("chatty", `for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.2; done`).running("timeout", map[string]string{"heartbeat": "1500ms"}),
	)
	for key, want := range map[string]struct{ cause, code string }{
		"run": {"timed out after", "timeout"}, "silent": {"printed nothing for 1s", "heartbeat_timeout"},
	} {
		if got := w.end(job, key); got.State != "failed" || !strings.Contains(got.Cause, want.cause) {
			t.Errorf("%s: got %+v", key, got)
		}
		var code string
		err := w.db.Pool.QueryRow(t.Context(), `select y.code from weir.tasks q, weir.why(q.id) y where q.job = $1 and q.key = $2`, job, key).Scan(&code)
		if err != nil || code != want.code {
			t.Errorf("%s ended by %q, want %q: %v", key, code, want.code, err)
		}
	}
	if got := w.end(job, "chatty"); got.State != "done" {
		t.Errorf("it spoke and was killed: %+v", got)
	}
	w.gone(job)
}

// An agent that leaves hands its work back, and the attempt is not spent.
func TestLeavingSpendsNoAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := agent.New(w.config("n1", map[string]int{"sh": 1}))
	over := make(chan error, 1)
	go func() { over <- first.Run(context.Background()) }()
	job := w.submit(sh("a", `test "$WEIR_ATTEMPT" -gt 1 || while :; do sleep 0.05; done`))
	w.running(job, "a")
	first.Leave()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if n := len(alive(job)); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	if got := w.task(job, "a"); got.State != "available" {
		t.Errorf("got %+v", got)
	}
	if s := first.Stats(); s.Returned != 1 {
		t.Errorf("got %+v", s)
	}
	w.run(w.config("n2", map[string]int{"sh": 1}))
	if got := w.end(job, "a"); got.State != "done" {
		t.Errorf("its only attempt was spent: %+v", got)
	}
}

// A draining agent finishes running work and claims nothing.
func TestDraining(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := agent.New(w.config("n1", map[string]int{"sh": 1}))
	over := make(chan error, 1)
	go func() { over <- a.Run(context.Background()) }()
	job := w.submit(sh("a", `until test -e "$GO"; do sleep 0.02; done`).running("env", map[string]string{"GO": w.folder + "/go"}), sh("b", `true`))
	w.running(job, "a")
	a.Drain()
	touch(w, w.folder+"/go")
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if a, b := w.task(job, "a"), w.task(job, "b"); a.State != "done" || b.State != "available" {
		t.Errorf("got %+v and %+v", a, b)
	}
}

// A node that an operator has drained or paused claims nothing until it is resumed.
func TestOrdersAreObeyed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	c.Beat = 100 * time.Millisecond
	w.run(c)
	w.until("the node is registered", func() bool { return one[int](w, `select count(*) from weir.nodes where name = 'n1'`) == 1 })
	one[bool](w, `select weir.set_node_mode('n1', 'paused') is not null`)
	job := w.submit(sh("a", `true`), sh("b", `sleep 0.3`), sh("c", `sleep 0.3`), sh("d", `sleep 0.3`))
	w.until("two heartbeats", func() bool {
		return one[bool](w, `select seen_at > mode_at + interval '0.3 s' from weir.nodes where name = 'n1'`)
	})
	if got := w.task(job, "a"); got.State != "available" {
		t.Errorf("a paused node took it: %+v", got)
	}
	one[bool](w, `select weir.set_node('n1', capacity => '{"sh": 3}') is not null`)
	one[bool](w, `select weir.set_node_mode('n1', 'active') is not null`)
	for _, key := range []string{"a", "b", "c", "d"} {
		if got := w.end(job, key); got.State != "done" {
			t.Errorf("%s: got %+v", key, got)
		}
	}
}

func TestCapacityIsNeverExceeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"n1", "n2"} {
		w.run(w.config(name, map[string]int{"sh": 2, "audio": 3}))
	}
	var steps []step
	for i := range 40 {
		s := sh(fmt.Sprint("s", i), `sleep 0.02`)
		if i%2 == 1 {
			s = s.with("service", "audio")
		}
		steps = append(steps, s)
	}
	job := w.submit(steps...)
	for i := range 40 {
		if got := w.end(job, fmt.Sprint("s", i)); got.State != "done" {
			t.Errorf("got %+v", got)
		}
	}
	// The sum comes from the timeline: +1 at each claim, -1 at each end.
	rows, err := w.db.Pool.Query(t.Context(), `
		select n.name, q.service, max(sum) from (
			select r.worker, q.service, sum(r.d) over (partition by r.worker, q.service order by r.seq rows unbounded preceding) as sum
			from (select e.worker, x.task, e.seq, case e.type when 'claimed' then 1 else -1 end as d
			      from weir.events e, unnest(coalesce(e.tasks, array[e.task])) x (task) where e.type in ('claimed', 'done', 'failed')) r
			join weir.task q on q.id = r.task) q
		join weir.workers k on k.id = q.worker join weir.nodes n on n.id = k.node group by 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var name, service string
		var most int
		if err := rows.Scan(&name, &service, &most); err != nil {
			t.Fatal(err)
		}
		seen++
		if limit := map[string]int{"sh": 2, "audio": 3}[service]; most > limit {
			t.Errorf("node %s ran %d of %s at once, its capacity is %d", name, most, service, limit)
		}
	}
	if seen != 4 {
		t.Errorf("%d of 4 pairs of node and service had work", seen)
	}
}

// deaf is a transport that returns no answers.
type deaf struct {
	agent.Transport
	mu   sync.Mutex
	dead bool
}

func (d *deaf) isDead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *deaf) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

func (d *deaf) Heartbeat(ctx context.Context) (node.Orders, error) {
	if d.isDead() {
		return node.Orders{}, context.DeadlineExceeded
	}
	return d.Transport.Heartbeat(ctx)
}

func (d *deaf) Claim(ctx context.Context, r node.ClaimRequest) (node.Claimed, error) {
	if d.isDead() {
		return node.Claimed{}, context.DeadlineExceeded
	}
	return d.Transport.Claim(ctx, r)
}

func (d *deaf) Renew(ctx context.Context, l []node.Lease, length time.Duration) ([]node.Refusal, error) {
	if d.isDead() {
		return nil, context.DeadlineExceeded
	}
	return d.Transport.Renew(ctx, l, length)
}

func (d *deaf) Report(ctx context.Context, told node.Told) (node.Heard, error) {
	if d.isDead() {
		return node.Heard{}, context.DeadlineExceeded
	}
	return d.Transport.Report(ctx, told)
}

// An agent that is cut off kills its work before the lease ends, and gives up when it has
// had no answer for too long.
func TestACutOffAgentKillsAndExits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	cut := &deaf{Transport: c.Transport}
	c.Transport, c.Lease, c.Patience, c.Poll = cut, 3*time.Second, 4*time.Second, time.Second
	a := agent.New(c)
	over := make(chan error, 1)
	go func() { over <- a.Run(context.Background()) }()
	job := w.submit(sh("a", `test "$WEIR_ATTEMPT" -gt 1 || while :; do date +%s%N >> "$TRACE"; sleep 0.02; done; date +%s%N > "$TRACE.second"`).
		running("env", map[string]string{"TRACE": w.folder + "/trace"}))
	w.running(job, "a")
	cut.die()
	err := <-over
	if err == nil || !strings.Contains(err.Error(), "no successful poll") {
		t.Errorf("it ended with %v", err)
	}
	w.gone(job)
	w.run(w.config("n2", map[string]int{"sh": 1}))
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
	before(w, w.folder+"/trace", w.folder+"/trace.second")
}

// unknown is a transport whose credential was revoked.
type unknown struct {
	agent.Transport
	gone atomic.Bool
}

func (u *unknown) Heartbeat(ctx context.Context) (node.Orders, error) {
	if u.gone.Load() {
		return node.Orders{}, problem.New(problem.Unauthenticated, "join again", "the credential is not valid any more")
	}
	return u.Transport.Heartbeat(ctx)
}

func (u *unknown) Claim(ctx context.Context, r node.ClaimRequest) (node.Claimed, error) {
	if u.gone.Load() {
		return node.Claimed{}, problem.New(problem.Unauthenticated, "join again", "the credential is not valid any more")
	}
	return u.Transport.Claim(ctx, r)
}

// An agent whose node was revoked ends at once and says so, because a restart would not
// help.
func TestARevokedAgentEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	u := &unknown{Transport: c.Transport}
	c.Transport, c.Patience, c.Poll, c.Beat = u, time.Hour, time.Hour, 100*time.Millisecond
	a := agent.New(c)
	over := make(chan error, 1)
	go func() { over <- a.Run(context.Background()) }()
	w.until("it has worked", func() bool { return one[int](w, `select count(*) from weir.workers`) == 1 })
	u.gone.Store(true)
	select {
	case err := <-over:
		if problem.Explain(err).Kind != problem.Unauthenticated {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
		a.Leave()
		<-over
	}
}

// slow is a transport whose server does not accept ends for a while, and does not answer
// at all if it is away.
type slow struct {
	agent.Transport
	mu      sync.Mutex
	until   time.Time
	away    bool
	refused int
	renewed int
}

// shut reports whether a call is not answered.
func (s *slow) shut(end bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	shut := time.Now().Before(s.until) && (end || s.away)
	if shut && end {
		s.refused++
	} else if !end {
		s.renewed++
	}
	return shut
}

func (s *slow) Renew(ctx context.Context, l []node.Lease, length time.Duration) ([]node.Refusal, error) {
	if s.shut(false) {
		return nil, context.DeadlineExceeded
	}
	return s.Transport.Renew(ctx, l, length)
}

func (s *slow) Report(ctx context.Context, told node.Told) (node.Heard, error) {
	if len(told.Ends) > 0 && s.shut(true) {
		return node.Heard{}, context.DeadlineExceeded
	}
	return s.Transport.Report(ctx, told)
}

// Finished work is not repeated because its end could not be reported for longer than its
// lease: the lease is renewed until the report succeeds.
func TestAnEndThatIsNotTakenKeepsItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	server := &slow{Transport: c.Transport, until: time.Now().Add(time.Hour)}
	c.Transport, c.Lease, c.Patience = server, 3*time.Second, time.Hour
	w.run(c)
	job := w.submit(sh("a", `echo "::result {\"n\": $WEIR_ATTEMPT}"; echo once >> "$TRACE"`).running("env", map[string]string{"TRACE": w.folder + "/trace"}))
	w.until("its end is not taken", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.refused > 0
	})
	server.mu.Lock()
	server.until = time.Now().Add(3 * c.Lease)
	server.mu.Unlock()
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
	if ran := fields(w, w.folder+"/trace"); len(ran) != 1 {
		t.Errorf("it ran %d times", len(ran))
	}
	if n := one[int](w, `select count(*) from weir.events where type in ('stale', 'expired')`); n > 0 {
		t.Errorf("%d leases were lost or stale", n)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if server.renewed == 0 || server.refused < 3 {
		t.Errorf("%d renewals, %d refused: nothing was tested", server.renewed, server.refused)
	}
}

// If the server does not answer at all and the lease runs out, the end is reported when
// the server answers again. The token decides: if no other agent took the task, it is
// done.
func TestAnEndIsToldAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config("n1", map[string]int{"sh": 1})
	server := &slow{Transport: c.Transport, until: time.Now().Add(time.Hour), away: true}
	c.Transport, c.Lease, c.Patience = server, 2*time.Second, time.Hour
	w.run(c)
	job := w.submit(sh("a", `true`))
	w.until("its end is not taken", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.refused > 0
	})
	// Nothing ends leases in the meantime: this transaction holds the lock that weir.tend
	// tries.
	tx, err := w.db.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it is committed by then
	if _, err := tx.Exec(t.Context(), `select pg_advisory_xact_lock(86, 0)`); err != nil {
		t.Fatal(err)
	}
	w.until("the lease has run out", func() bool {
		return one[bool](w, `select until < clock_timestamp() - interval '1 s' from weir.running`)
	})
	server.mu.Lock()
	server.until = time.Time{}
	server.mu.Unlock()
	w.until("its end is taken", func() bool { return one[int](w, `select count(*) from weir.finished`) == 1 })
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.end(job, "a"); got.State != "done" || got.Attempt != 1 {
		t.Errorf("got %+v", got)
	}
}
