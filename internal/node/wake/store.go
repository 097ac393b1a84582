package wake

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/weirhq/weir/internal/pg"
)

// poolTerm is for actions of a person, which need no leader.
type poolTerm struct{}

func (poolTerm) QueryRow(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, into ...any) error {
	return pool.QueryRow(ctx, sql, args...).Scan(into...)
}

func (w *Waker) setWake(ctx context.Context, by, node string, m Method) error {
	params, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("set how node %s is woken: %w", node, err)
	}
	var kind *string
	if m.Kind != "" {
		kind = &m.Kind
	}
	var sleepAfter *time.Duration
	if m.SleepAfter != 0 {
		sleepAfter = &m.SleepAfter
	}
	if _, err := w.pool.Exec(ctx, `select weir.set_wake($1, $2, $3, $4, $5)`, node, kind, params, sleepAfter, by); err != nil {
		return fmt.Errorf("set how node %s is woken: %w", node, err)
	}
	return nil
}

// begin records that a person wakes a node. due is false if there is nothing to do.
func (w *Waker) begin(ctx context.Context, by, node string) (c call, due bool, err error) {
	var kind *string
	var params json.RawMessage
	err = w.pool.QueryRow(ctx, `
		with noted as materialized (select weir.note_wake($1, 'waking', by => $2) as due)
		select noted.due, n.wake_method, n.wake, n.wake_tries + 1 from noted left join weir.nodes n on n.name = $1`, node, by).Scan(&due, &kind, &params, &c.Try)
	if err != nil {
		return c, false, fmt.Errorf("wake node %s: %w", node, err)
	}
	c.Node = node
	if kind != nil {
		c.Method, err = decode(*kind, params)
	}
	return c, due, err
}

// plan records the results of earlier tries and returns which nodes to wake now.
func (w *Waker) plan(ctx context.Context, term pg.Term) ([]call, error) {
	var rows []struct {
		Node, Method string
		Params       json.RawMessage
		Try          int
	}
	if err := term.QueryRow(ctx, w.pool, `select weir.plan_wakes()`, nil, &rows); err != nil {
		return nil, fmt.Errorf("look for nodes to wake: %w", err)
	}
	calls := make([]call, 0, len(rows))
	for _, row := range rows {
		m, err := decode(row.Method, row.Params)
		if err != nil {
			if err = w.note(ctx, term, row.Node, "failed", err.Error(), ""); err != nil {
				return nil, fmt.Errorf("note that node %s was not woken: %w", row.Node, err)
			}
			continue
		}
		calls = append(calls, call{Node: row.Node, Try: row.Try, Method: m})
	}
	return calls, nil
}

// note ends a try: called, or failed with the error. said is what the other side
// answered.
func (w *Waker) note(ctx context.Context, term pg.Term, node, step, note, said string) error {
	var data []byte
	if said != "" && step == "failed" {
		data, _ = json.Marshal(map[string]string{"output": said}) // text always is JSON
	}
	var noted bool
	return term.QueryRow(ctx, w.pool, `select weir.note_wake($1, $2, $3, $4)`, []any{node, step, note, data}, &noted)
}
