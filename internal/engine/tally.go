package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/pg"
)

const (
	// tallyBusy is how old the last minute of a chart may be while something
	// happens, tallyIdle how soon that is noticed after nothing did.
	tallyBusy = 5 * time.Second
	tallyIdle = 15 * time.Second
	// tallyAnyway is how long an event that was not counted with those around it,
	// because its transaction was still under way, may wait for others.
	tallyAnyway = time.Minute
)

// tallier adds the timeline up, minute by minute. Where it stands is in the
// database, so nothing is counted twice or left out when the leader changes.
type tallier struct {
	config Config
	term   pg.Term
	// seen is the last number of the timeline when it was last added up, at when
	// that was; next is when to look again, if that is sooner than usual.
	seen     int64
	at, next time.Time
}

func (t *tallier) due() time.Time { return t.next }

func (t *tallier) tick(ctx context.Context, now time.Time) (more bool, err error) {
	t.next = time.Time{}
	var last int64
	if err := t.config.Pool.QueryRow(ctx, `select last_value from weir.event_seq`).Scan(&last); err != nil {
		return false, fmt.Errorf("read the number of events: %w", err)
	}
	if last == t.seen && now.Sub(t.at) < tallyAnyway {
		return false, nil
	}
	var counted int
	if err := t.term.QueryRow(ctx, t.config.Pool, `select counted, more from weir.tally()`, nil, &counted, &more); err != nil {
		return false, fmt.Errorf("add up the timeline: %w", err)
	}
	if counted > 0 {
		t.next = now.Add(tallyBusy)
	}
	if !more {
		t.seen, t.at = last, now
	}
	return more, nil
}
