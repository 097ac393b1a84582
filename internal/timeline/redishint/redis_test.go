package redishint

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// journal is a log that a test can read.
type journal struct{ testwait.Text }

func (j *journal) log() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func (j *journal) count(part string) int { return strings.Count(j.String(), part) }

// hinted waits for a hint.
func hinted(t *testing.T, b *Bus, what string) {
	t.Helper()
	select {
	case <-b.C():
	case <-time.After(testwait.Limit):
		t.Fatalf("no hint: %s", what)
	}
}

// runBus runs a bus until the test ends.
func runBus(t *testing.T, url string, j *journal) *Bus {
	t.Helper()
	b, err := New(url, "", j.log())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { b.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		run.Wait()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
