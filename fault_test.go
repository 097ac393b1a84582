package weir_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// wire is a TCP proxy between a client and the database.
type wire struct {
	proxy *toxiproxy.Proxy
	url   string
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, t.Name(), "127.0.0.1:0", u.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	u.Host = proxy.Listen
	return &wire{proxy, u.String()}
}

// loseReplies lets requests through and drops the answers, until the function
// it returns is called: that breaks the connections. A statement that the
// connection has not prepared yet does not get as far as to run.
func (w *wire) loseReplies(t *testing.T) (heal func()) {
	t.Helper()
	toxic := `{"name": "deaf", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`
	if _, err := w.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
	heal = sync.OnceFunc(func() {
		if err := w.proxy.Toxics.RemoveToxic(context.Background(), "deaf"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(heal)
	return heal
}

// cut breaks all connections and refuses new ones, until the function it returns
// is called.
func (w *wire) cut(t *testing.T) (heal func()) {
	w.proxy.Stop()
	heal = sync.OnceFunc(func() {
		if err := w.proxy.Start(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(heal)
	return heal
}

// types are the types of a task's events in order.
func (w *world) types(t testing.TB, id weir.ID) string {
	t.Helper()
	var list string
	if err := w.Pool.QueryRow(t.Context(), `select string_agg(type, ' ' order by seq) from weir.task_events($1)`, id).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// quietWorker is a worker that uses its two connections for claims and ends
// alone, has prepared both on both, and is busy with one task until release is
// closed. So no claim is under way.
func quietWorker(t *testing.T, w *world, wire *wire, service string, end error) (worker *weir.Worker, plug weir.ID, release chan struct{}) {
	t.Helper()
	// Somebody tends the engine, so the worker need not.
	if _, err := w.Pool.Exec(t.Context(), `select weir.lead('coordinator', 'test', '1 hour')`); err != nil {
		t.Fatal(err)
	}
	worker = weir.NewWorker(w.open(t, wire.url+"&pool_max_conns=2"), weir.WorkerConfig{Concurrency: 1})
	begun, release := make(chan struct{}), make(chan struct{})
	weir.Handle(worker, service, func(_ context.Context, run *weir.Run[bool]) (any, error) {
		if run.Args {
			close(begun)
			<-release
		}
		return nil, end
	})
	w.run(t, worker)
	for i := range warm {
		w.submit(t, weir.Task{Service: service, Params: false})
		until(t, "it works", func() bool { return ends(worker) == int64(i+1) })
	}
	plug = w.submit(t, weir.Task{Service: service, Params: true})
	receive(t, "the handler begins", begun)
	return worker, plug, release
}

const warm = 20

// ends counts what a worker has told.
func ends(w *weir.Worker) int64 {
	s := w.Stats()
	return s.Done + s.Failed + s.Returned
}

// The claim was made and its answer was lost: the repeat returns the same
// leases, so the task runs once and none is forgotten.
func TestLostClaimReply(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "what is told has to be prepared on the connection that loses the answer")
	w := newWorld(t)
	wire := newWire(t, w.URL)
	worker, plug, release := quietWorker(t, w, wire, "a", nil)
	id := w.submit(t, weir.Task{Service: "a", Params: false})
	heal := wire.loseReplies(t)
	close(release)
	until(t, "the claim is made", func() bool { return w.task(t, id).State == weir.Running })
	if ends(worker) != warm {
		t.Fatal("the reply was not lost")
	}
	heal()
	until(t, "the worker knows", func() bool { return ends(worker) == warm+2 })
	for _, id := range []weir.ID{plug, id} {
		if got := w.types(t, id); got != "submitted claimed done" {
			t.Errorf("its life: %s", got)
		}
	}
	if s := worker.Stats(); s.Claimed != warm+2 || s.Lost != 0 {
		t.Errorf("%+v: %v", s, w.log.all())
	}
}

// The end was accepted and its answer was lost: the repeat is told so.
func TestLostFinishReply(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "what is told has to be prepared on the connection that loses the answer")
	w := newWorld(t)
	wire := newWire(t, w.URL)
	for _, c := range []struct {
		name string
		err  error
		life string
	}{
		{"done", nil, "submitted claimed done"},
		{"failed", weir.Permanent(errors.New("x")), "submitted claimed failed"},
		{"snoozed", weir.Snooze(time.Hour), "submitted claimed snoozed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			worker, id, release := quietWorker(t, w, wire, c.name, c.err)
			heal := wire.loseReplies(t)
			close(release)
			until(t, "the end is accepted", func() bool { return w.task(t, id).State != weir.Running })
			heal()
			until(t, "the worker knows", func() bool { return ends(worker) == warm+1 })
			if got := w.types(t, id); got != c.life {
				t.Errorf("its life: %s", got)
			}
			if worker.Stats().Lost != 0 {
				t.Errorf("the repeat was taken for a lost lease: %v", w.log.all())
			}
		})
	}
}

// A worker that cannot renew tells its handlers to stop before anybody else may
// start their tasks.
func TestHandlersStopBeforeTheLeaseEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := newWire(t, w.URL)
	const lease = 9 * time.Second // a sixth of it is for a busy machine
	worker := weir.NewWorker(w.open(t, wire.url), weir.WorkerConfig{Lease: lease})
	type end struct {
		at    time.Time
		cause error
	}
	begun, stopped := make(chan time.Time, 5), make(chan end, 5)
	handle(worker, "long", func(ctx context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt > 1 {
			return "again", nil
		}
		begun <- time.Now()
		<-ctx.Done()
		stopped <- end{time.Now(), context.Cause(ctx)}
		return nil, ctx.Err()
	})
	w.run(t, worker)
	id := w.submit(t, weir.Task{Service: "long", MaxAttempts: 1})
	receive(t, "the handler begins", begun)
	// Past the first end of the lease it still runs: it is renewed.
	until(t, "it was renewed", func() bool {
		return w.count(t, `select count(*) from weir.running where task = $1 and until > claimed_at + $2`, id, lease+time.Second) == 1
	})
	heal := wire.cut(t)
	stop := receive(t, "the context ends", stopped)
	var over time.Time
	if err := w.Pool.QueryRow(t.Context(), `select until from weir.running where task = $1`, id).Scan(&over); err != nil {
		t.Fatalf("the lease is gone already: %v", err)
	}
	if left := over.Sub(stop.at); !errors.Is(stop.cause, weir.ErrLeaseLost) || left <= 0 {
		t.Errorf("the cause is %v, with %s of the lease left", stop.cause, left)
	}
	heal()
	if got := w.wait(t, id); got.State != weir.Done || string(got.Result) != `"again"` {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
}

// A worker whose process dies is replaced: its task runs again, and no attempt
// of it is spent.
func TestDeadWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.submit(t, weir.Task{Service: "a", MaxAttempts: 1})
	// A worker that claims and is never heard of again.
	if _, err := w.Pool.Exec(t.Context(), `select weir.claim('dead', array['a'], lease => '1 s')`); err != nil {
		t.Fatal(err)
	}
	worker := weir.NewWorker(w.client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	w.run(t, worker)
	if got := w.wait(t, id); got.State != weir.Done || got.Attempt != 2 {
		t.Errorf("got %+v: %s", got, w.types(t, id))
	}
}

// A submission with an idempotency key survives a lost answer and is one task.
// One without may not be repeated, so the caller is told.
func TestLostSubmitReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wire := newWire(t, w.URL)
	client := w.open(t, wire.url+"&pool_max_conns=1")
	for _, key := range []string{"once", ""} {
		t.Run("key="+key, func(t *testing.T) {
			// Held tasks are not announced, so the connection has nothing else to do.
			if _, err := client.Submit(t.Context(), weir.Task{Service: "a", Hold: "nobody"}); err != nil {
				t.Fatal(err)
			}
			before := w.count(t, `select count(*) from weir.tasks`)
			heal := wire.loseReplies(t)
			type answer struct {
				weir.Receipt
				err error
			}
			answers := make(chan answer, 1)
			go func() {
				r, err := client.Submit(context.Background(), weir.Task{Service: "a", Hold: "nobody", IdempotencyKey: key})
				answers <- answer{r, err}
			}()
			until(t, "the task is there", func() bool { return w.count(t, `select count(*) from weir.tasks`) == before+1 })
			heal()
			got := receive(t, "Submit returns", answers)
			if (got.err == nil) != (key != "") {
				t.Errorf("got %+v", got)
			}
			if n := w.count(t, `select count(*) from weir.tasks`); n != before+1 {
				t.Errorf("%d tasks were submitted", n-before)
			}
		})
	}
}

// Without LISTEN everything works, at the speed of polling.
func TestWorkWithoutNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client, err := weir.New(w.Pool, &weir.Config{Logger: discard(), ListenURL: "postgres://127.0.0.1:1/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	worker := weir.NewWorker(client, weir.WorkerConfig{})
	handle(worker, "a", nothing)
	w.run(t, worker)
	for i := range 3 {
		if _, err := w.Pool.Exec(t.Context(), `select weir.submit('a', hint => false)`); err != nil {
			t.Fatal(err)
		}
		until(t, fmt.Sprint("task ", i), func() bool { return worker.Stats().Done == int64(i+1) })
	}
}
