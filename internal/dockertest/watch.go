package dockertest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"
)

// Event is the start or the end of a container.
type Event struct {
	// What is start or die.
	What string
	// Labels are the container's, and those that the engine adds, such as exitCode.
	Labels map[string]string
}

// Watch collects the events of the containers of an engine.
type Watch struct {
	cli *client.Client

	mu  sync.Mutex
	all []Event
	err error
}

// NewWatch watches until the test ends.
func NewWatch(t testing.TB, host string) *Watch {
	t.Helper()
	cli, err := client.New(client.WithHost(host))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watch{cli: cli}
	feed := cli.Events(ctx, client.EventsListOptions{Filters: client.Filters{}.Add("type", "container")})
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.listen(ctx, feed)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		_ = cli.Close() // nothing is under way
	})
	return w
}

func (w *Watch) listen(ctx context.Context, feed client.EventsResult) {
	for {
		select {
		case m := <-feed.Messages:
			if m.Action == events.ActionStart || m.Action == events.ActionDie {
				w.mu.Lock()
				w.all = append(w.all, Event{string(m.Action), m.Actor.Attributes})
				w.mu.Unlock()
			}
		case err := <-feed.Err:
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
			return
		case <-ctx.Done():
			return
		}
	}
}

// Events returns the events so far, in order.
func (w *Watch) Events() ([]Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Event(nil), w.all...), w.err
}

// Containers returns the containers of the engine, running or not.
func (w *Watch) Containers(ctx context.Context) ([]string, error) {
	list, err := w.cli.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, c := range list.Items {
		all = append(all, fmt.Sprintf("%s %v", c.State, c.Names))
	}
	return all, nil
}
