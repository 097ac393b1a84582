package wake

import (
	"strings"
	"testing"
)

// TestWhyCountsWhoLives checks that why does not count a worker that the lists call dead,
// and that only work which the same workers could do counts as ahead.
func TestWhyCountsWhoLives(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.exec(`select weir.register_node('tls1', '{"tls": "yes"}', '{"exec": 4}'), weir.register_worker('agent@tls1', '{exec}', 'tls1')`)
	for _, labels := range []string{`{"node": "here"}`, `{"gpu": "true"}`, `{"tls": "no"}`, `{"tls": "yes"}`, `{}`} {
		r.exec(`select weir.submit('exec', labels => $1)`, labels)
	}
	task := one[string](r, `select weir.submit('exec', labels => '{"tls": "yes"}')::text`)
	why := func() string {
		return one[string](r, `select string_agg(reason, '; ') from weir.why($1) where gate = 'worker'`, task)
	}
	if got := why(); got != "1 live worker for exec with labels tls=yes; 2 tasks come first" {
		t.Errorf("it lives: %s", got)
	}
	r.exec(`with w as (update weir.workers set seen_at = clock_timestamp() - interval '43 s') update weir.nodes set seen_at = clock_timestamp() - interval '43 s'`)
	if state := one[string](r, `select state from weir.worker`); state != "dead" {
		t.Fatalf("the list says %s", state)
	}
	if got := why(); !strings.HasPrefix(got, "no live worker serves exec with labels tls=yes: node tls1 could, but was not seen for 43s") {
		t.Errorf("it is dead: %s", got)
	}
}
