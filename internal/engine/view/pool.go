package view

import (
	"context"
	"time"
)

// Pool is a row of the view weir.pool.
type Pool struct {
	Name      string    `json:"name"`
	Size      *int      `json:"size,omitempty"`
	Rate      *int      `json:"rate,omitempty"`
	Per       string    `json:"per,omitempty"`
	Seconds   float64   `json:"per_seconds,omitempty"`
	Note      string    `json:"note,omitempty"`
	Waiting   int       `json:"waiting"`
	Available int       `json:"available"`
	Running   int       `json:"running"`
	ResizedAt time.Time `json:"resized_at"`
}

const poolColumns = `p.name, p.size, p.rate, p.per::text, coalesce(extract(epoch from p.per), 0)::float8, p.note, p.waiting, p.available, p.running, p.resized_at`

func poolInto(p *Pool) []any {
	return []any{&p.Name, &p.Size, &p.Rate, (*maybe)(&p.Per), &p.Seconds, (*maybe)(&p.Note), &p.Waiting, &p.Available, &p.Running, (*moment)(&p.ResizedAt)}
}

// Pools lists the pools by name.
func (s *Store) Pools(ctx context.Context, page Page) ([]Pool, error) {
	return list(ctx, s, "list pools", `select `+poolColumns+` from weir.pool p where p.name > $1 collate "C" order by p.name limit $2`, []any{page.After, page.Most()}, poolInto)
}

// Pool reads one pool.
func (s *Store) Pool(ctx context.Context, name string) (Pool, error) {
	rows, err := list(ctx, s, "read pool", `select `+poolColumns+` from weir.pool p where p.name = $1`, []any{name}, poolInto)
	if err == nil && len(rows) == 0 {
		err = noSuch("pool", name)
	}
	if err != nil {
		return Pool{}, err
	}
	return rows[0], nil
}
