package enginetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestTextsAreBounded: a text that rows, events and pages repeat has a bound, and the
// refusal names the field without repeating the text.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	e := start(t)
	id := e.submit(0, spec{"service": "s"})
	l := e.run(1, id)
	lease := `'` + l.Task + `', 1, '` + l.Token + `'`
	for field, sql := range map[string]string{
		"service":         `select weir.submit($1)`,
		"hold":            `select weir.submit('s', hold => $1)`,
		"trace":           `select weir.submit('s', trace => $1)`,
		"name":            `select weir.submit_job('[{"service": "s"}]', $1)`,
		"schedule":        `select weir.submit_job('[{"service": "s"}]', 'j', schedule => $1)`,
		"kind":            `select weir.open_job('j', $1)`,
		"idempotency_key": `select weir.open_job('j', idempotency_key => $1)`,
		"by":              `select weir.cancel('` + id + `', by => $1)`,
		"reason":          `select weir.cancel('` + id + `', reason => $1)`,
		"note":            `select weir.set_node_mode('n', 'paused', note => $1)`,
		"holder":          `select weir.register_worker('w', '{s}', holder => $1)`,
		"bucket":          `select weir.record_artifact(` + lease + `, 'output', 'x', $1, 'k', 1)`,
		"content_type":    `select weir.record_artifact(` + lease + `, 'output', 'x', 'b', 'k', 1, content_type => $1)`,
		"type":            `select weir.record(` + lease + `, $1)`,
	} {
		_, err := e.Pool.Exec(t.Context(), sql, strings.Repeat("x", 100_000))
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || refusal.Code != "WR422" || !strings.Contains(refusal.Message, field+": ") || len(refusal.Message) > 9000 {
			t.Errorf("%s: %.300v", sql, err)
		}
	}
}
