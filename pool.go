package weir

import (
	"context"
	"time"
)

// Pool is a named limit: at most Size tasks at once, at most Rate per Per, or
// both.
type Pool struct {
	Name string
	// Size is how many tasks may be available or running. Nil: no such limit;
	// 0 stops the pool.
	Size *int
	// Rate is how many tasks may start within any time of length Per, also after
	// a pause. A task that is run again counts again. Zero: no such limit.
	Rate int
	Per  time.Duration
	Note string
	// By says who sets it, for the timeline.
	By string
	// Seen is when the pool was last changed as far as the caller knows. If
	// somebody changed it since, the call is refused with [ErrConflict]. Zero:
	// whatever is there is changed.
	Seen time.Time
}

// SetPool creates or changes a pool. Growing it lets tasks through at once.
func (c *Client) SetPool(ctx context.Context, p Pool) error {
	return c.command(ctx, "set pool", `select weir.set_pool($1, $2, nullif($3, 0), nullif($4, interval '0'), nullif($5, ''), by => nullif($6, ''), seen => $7)`,
		p.Name, p.Size, p.Rate, p.Per, p.Note, p.By, seen(p.Seen))
}

// seen is null for a caller that has seen nothing.
func seen(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Size is a helper for the field of that name.
func Size(n int) *int { return &n }

// NotePool changes the note of a pool, and nothing else of it. An empty note takes the old
// one away.
func (c *Client) NotePool(ctx context.Context, name, note, by string) error {
	return c.command(ctx, "note pool", `select weir.note_pool($1, $2, nullif($3, ''))`, name, note, by)
}

// DropPool deletes a pool. It is refused while tasks use it, unless forced:
// then they go on as if they had none.
func (c *Client) DropPool(ctx context.Context, name string, force bool, by string) error {
	return c.command(ctx, "drop pool", `select weir.drop_pool($1, $2, nullif($3, ''))`, name, force, by)
}
