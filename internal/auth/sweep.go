package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/loop"
)

const (
	// keptTokens is how long an expired token stays in the list, so that its owner sees
	// why a program stopped.
	keptTokens = 30 * 24 * time.Hour
	// keptAttempts is the longest time that failures count.
	keptAttempts = 24 * time.Hour
)

// Loops returns the loops that a leader runs for this package.
func (s *Store) Loops() []loop.Loop {
	return []loop.Loop{{Name: "auth-sweep", Tick: s.Sweep, Every: 10 * time.Minute}}
}

// Sweep deletes expired rows. Nothing depends on it, because an expired secret is refused
// whether it was swept or not.
func (s *Store) Sweep(ctx context.Context, _ time.Time) (more bool, err error) {
	for _, over := range []struct {
		sql string
		age time.Duration
	}{
		{`delete from weir.sessions where expires_at < coalesce($1, now()) or seen_at < coalesce($1, now()) - $2::interval`, sessionIdle},
		{`delete from weir.tokens where expires_at < coalesce($1, now()) - $2::interval`, keptTokens},
		{`delete from weir.links where expires_at < coalesce($1, now()) - $2::interval`, 0},
		{`delete from weir.joins where expires_at < coalesce($1, now()) - $2::interval`, 0},
		{`delete from weir.oidc_visits where expires_at < coalesce($1, now()) - $2::interval`, 0},
		{`delete from weir.login_attempts where at < coalesce($1, now()) - $2::interval`, keptAttempts},
	} {
		if _, err := s.pool.Exec(ctx, over.sql, s.clock(), over.age); err != nil {
			return false, fmt.Errorf("sweep: %w", err)
		}
	}
	return false, nil
}
