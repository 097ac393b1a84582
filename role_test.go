package weir_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testdb"
)

// A worker and a client need no more than their roles, also without a server.
func TestRolesAreEnough(t *testing.T) {
	t.Parallel()
	testdb.Direct(t, "it refuses options in the URL")
	w := newWorld(t)
	as := func(role string) *weir.Client {
		u, err := url.Parse(w.URL)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("options", "-c role="+role)
		u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
		return w.open(t, u.String())
	}
	worker := weir.NewWorker(as("weir_worker"), weir.WorkerConfig{Node: "pc1"})
	handle(worker, "a", func(_ context.Context, run *weir.Run[struct{}]) (any, error) {
		if run.Attempt == 1 {
			return nil, weir.Snooze(100 * time.Millisecond)
		}
		return nil, run.Event("info", "hello", nil)
	})
	w.run(t, worker)
	client := as("weir_client")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	receipt, err := client.Submit(ctx, weir.Task{Service: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Wait(ctx, receipt.ID); err != nil || got.State != weir.Done {
		w.explain(t, receipt.ID)
		t.Errorf("got %+v, %v", got, err)
	}
}
