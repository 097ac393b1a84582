package view

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
)

// KeyedJob is the job that answers to an idempotency key, as it is kept; zero: none does.
func (s *Store) KeyedJob(ctx context.Context, key string) (id weir.ID, err error) {
	err = s.pool.QueryRow(ctx, `select k.id from weir.idempotency k where k.job and (k.key = $1 or k.key = weir._plain_key($1) and k.body is null)`, key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return id, nil
	}
	if err != nil {
		return id, fmt.Errorf("read an idempotency key: %w", err)
	}
	return id, nil
}

// Existed says whether a create with a key found what it made before.
func (s *Store) Existed(ctx context.Context, key string, create func() (weir.ID, error)) (id weir.ID, existed bool, err error) {
	var was weir.ID
	if key != "" {
		if was, err = s.KeyedJob(ctx, key); err != nil {
			return id, false, err
		}
	}
	id, err = create()
	return id, err == nil && !was.IsZero() && was == id, err
}
