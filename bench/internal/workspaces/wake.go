package workspaces

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// askEvery is how often the database is asked for a phase.
const askEvery = 10 * time.Millisecond

// Woken is one wake, in milliseconds. Total is from the first request to the first 200;
// the others are its parts, one after the other.
type Woken struct {
	Total float64 `json:"total_ms"`
	// Wanted is until the request arrived and the wanted phase was written, Begun until
	// the controller has looked and recorded the start, Seen until the workspace was
	// started, answered, and that was seen, and Shown until the page was notified and has
	// loaded.
	Wanted float64 `json:"wanted_ms"`
	Begun  float64 `json:"begun_ms"`
	Seen   float64 `json:"seen_ms"`
	Shown  float64 `json:"shown_ms"`
}

// warmWakes do not count, because an image is imported and programs are read from the
// disk.
const warmWakes = 2

// Wake wakes a workspace in standby n times.
func (h *House) Wake(ctx context.Context, provider string, n int) ([]Woken, error) {
	id, err := h.Make(ctx, "wake-"+provider, provider)
	if err != nil {
		return nil, err
	}
	v, err := enter(ctx, h.Store, h.User, id, h.at, h.listen)
	if err != nil {
		return nil, err
	}
	defer v.close()
	var all []Woken
	for i := range n + warmWakes {
		// Wakes come at any moment between two looks of the controller.
		if !loop.Wait(ctx, 50*time.Millisecond+rand.N(300*time.Millisecond), nil) {
			return nil, ctx.Err()
		}
		w, err := h.wake(ctx, id, v)
		if err != nil {
			return nil, fmt.Errorf("wake %d: %w", i+1, err)
		}
		if i >= warmWakes {
			all = append(all, w)
		}
		if err := h.Want(ctx, id, ladder.Standby); err != nil {
			return nil, err
		}
	}
	return all, h.Want(ctx, id, ladder.Deleted)
}

func (h *House) wake(ctx context.Context, id weir.ID, v *visit) (w Woken, err error) {
	began := time.Now()
	if err := v.open(ctx); err != nil {
		return w, err
	}
	ended := time.Now()
	// The database is on this machine, so its clock is the same.
	var wanted, begun, seen time.Time
	err = h.Pool.QueryRow(ctx, `select max(e.at) filter (where e.type = 'wanted'), max(e.at) filter (where e.type = 'began'), max(e.at) filter (where e.type = 'phase')
		from weir.events e where e.kind = 'workspace' and e.subject = $1 and e.at > $2`, id.String(), began.Add(-time.Millisecond)).Scan(&wanted, &begun, &seen)
	if err != nil {
		return w, fmt.Errorf("read what happened: %w", err)
	}
	// The workspace runs before its operation is over, and is stopped after that.
	return Woken{ms(ended.Sub(began)), ms(wanted.Sub(began)), ms(begun.Sub(wanted)), ms(seen.Sub(begun)), ms(ended.Sub(seen))}, h.Await(ctx, id, ladder.Running)
}

// Requests sends n requests to a running workspace, one after the other, and returns
// milliseconds.
func (h *House) Requests(ctx context.Context, provider string, n int) (took []float64, err error) {
	id, err := h.Make(ctx, "ask-"+provider, provider)
	if err != nil {
		return nil, err
	}
	if err := h.Want(ctx, id, ladder.Running); err != nil {
		return nil, err
	}
	v, err := enter(ctx, h.Store, h.User, id, h.at, h.listen)
	if err != nil {
		return nil, err
	}
	defer v.close()
	for i := range n + n/10 {
		t, _, err := v.ask(ctx, "/healthz")
		if err != nil {
			return nil, err
		}
		if i >= n/10 {
			took = append(took, ms(t))
		}
	}
	return took, h.Want(ctx, id, ladder.Deleted)
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
