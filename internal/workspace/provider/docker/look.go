package docker

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Look lists volumes and containers.
func (p *Provider) Look(ctx context.Context) (provider.World, error) {
	all, err := p.see(ctx)
	if err == nil && torn(all) {
		all, err = p.see(ctx) // two listings are not one moment
	}
	if err != nil {
		return provider.World{}, fmt.Errorf("look: %w", err)
	}
	w := provider.World{Containers: map[weir.ID]provider.Container{}, Volumes: map[weir.ID]provider.Volume{}}
	for id, s := range all {
		if len(s.homes) > 0 {
			w.Volumes[id] = s.state().Volume
		}
	}
	var silent bool // one does not answer
	var mu sync.Mutex
	var group sync.WaitGroup
	turns := make(chan struct{}, 16)
	for id, s := range all {
		if !uses(s.container) {
			continue
		}
		group.Go(func() {
			turns <- struct{}{}
			ready := p.answers(ctx, id, s.container.ID)
			<-turns
			mu.Lock()
			silent = silent || !ready
			w.Containers[id] = provider.Container{Ready: ready, Since: time.Unix(s.container.Created, 0).UTC()}
			mu.Unlock()
		})
	}
	group.Wait()
	if silent {
		// The way there leads through the engine, which may have stopped answering since.
		_, err = call(ctx, p, "ask Docker", func(ctx context.Context) (client.PingResult, error) { return p.engine.Ping(ctx, client.PingOptions{}) })
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return provider.World{}, fmt.Errorf("look: %w", err)
	}
	return w, nil
}

// torn: a container seems to have no home.
func torn(all map[weir.ID]*sight) bool {
	for _, s := range all {
		if uses(s.container) && len(s.homes) == 0 {
			return true
		}
	}
	return false
}

// answerMost is how long a workspace may take to say that it is there.
const answerMost = time.Second

// answers: it speaks HTTP. What it says is its own matter.
func (p *Provider) answers(ctx context.Context, id weir.ID, container string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerMost)
	defer cancel()
	asks := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.reach(ctx, id, container) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://workspace/healthz", nil)
	if err != nil {
		return false
	}
	answer, err := asks.Do(request)
	return err == nil && answer.Body.Close() == nil
}
