package view

import (
	"context"
	"fmt"

	"github.com/weirhq/weir/internal/dsn"
)

// Finding is one line of the doctor's report.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Level is invariant (must hold) or health (an operator should look).
	Level  string `json:"level"`
	Detail string `json:"detail,omitempty"`
}

// Doctor checks every invariant of the database, and whether hints can reach who
// asks. Deep reads all of the history instead of its newest part.
func (s *Store) Doctor(ctx context.Context, deep bool) ([]Finding, error) {
	findings, err := list(ctx, s, "doctor", `select d.name, d.ok, d.level, d.detail from weir.doctor($1) d`, []any{deep}, func(f *Finding) []any {
		return []any{&f.Name, &f.OK, &f.Level, (*maybe)(&f.Detail)}
	})
	if err != nil {
		return nil, err
	}
	hints, err := s.hints(ctx)
	return append(findings, hints), err
}

// hints says whether notifications reach us. Only the client's side can know: the
// database sees the connections of a pooler, not who is behind them.
func (s *Store) hints(ctx context.Context) (Finding, error) {
	f := Finding{Name: "hints are heard", OK: true, Level: "health"}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return f, fmt.Errorf("doctor: %w", err)
	}
	defer conn.Release()
	pooled, err := dsn.Pooled(ctx, conn.Conn())
	if err != nil {
		return f, fmt.Errorf("doctor: %w", err)
	}
	if pooled {
		f.OK = false
		f.Detail = "the database is reached through a pooler, which in transaction mode carries no notifications: hints are polled, once a second. All works; for pickup in milliseconds give a direct address"
	}
	return f, nil
}
