package weir_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// soon is how long a test waits for what must come. It is less than a worker's
// PollFloor and Lease: what comes only because of those comes too late. That is why
// these tests do not wait with internal/testwait. Through a pooler nothing but polling
// brings anything, second by second, so there is no such bound.
var soon = 20 * time.Second

func init() {
	if testdb.Pooled() {
		soon = testwait.Limit
	}
}

// world is a database with a client on it.
type world struct {
	*testdb.DB
	client *weir.Client
	log    *journal
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db := testdb.New(t)
	w := &world{DB: db, log: &journal{}}
	w.client = w.open(t, db.URL)
	return w
}

// open makes one more client, as another process would have.
func (w *world) open(t testing.TB, url string) *weir.Client {
	t.Helper()
	client, err := weir.Open(t.Context(), url, &weir.Config{Logger: slog.New(w.log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// run starts a worker that stops, at the latest, when the test ends.
func (w *world) run(t testing.TB, worker *weir.Worker) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if err := worker.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func (w *world) submit(t testing.TB, task weir.Task) weir.ID {
	t.Helper()
	receipt, err := w.client.Submit(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

func (w *world) wait(t testing.TB, id weir.ID) weir.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	outcome, err := w.client.Wait(ctx, id)
	if err != nil {
		w.explain(t, id)
		t.Fatal(err)
	}
	return outcome
}

// explain says why a task is not where the test wants it.
func (w *world) explain(t testing.TB, id weir.ID) {
	reasons, err := w.client.Why(context.Background(), id)
	t.Logf("why %s: %+v %v", id, reasons, err)
	for _, line := range w.log.all() {
		t.Log(line)
	}
}

func (w *world) task(t testing.TB, id weir.ID) weir.TaskInfo {
	t.Helper()
	info, err := w.client.Task(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// count runs a query that returns one number.
func (w *world) count(t testing.TB, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := w.Pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// until polls a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(soon)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-tick.C
	}
}

func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		t.Fatalf("never: %s", what)
		panic("not reached")
	}
}

// handle is a handler for tests that look at nothing.
func handle(w *weir.Worker, service string, f func(context.Context, *weir.Run[struct{}]) (any, error), options ...weir.Option) {
	weir.Handle(w, service, f, options...)
}

// nothing is the handler that does nothing.
func nothing(context.Context, *weir.Run[struct{}]) (any, error) { return nil, nil }

// journal keeps what the SDK logs.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	return nil
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
