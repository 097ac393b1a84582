package enginetest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/reason"
)

// TestReasons makes the situations in which tasks wait, and asks for each what programs
// and people are told. The English of SQL is that of Go.
func TestReasons(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(`select weir.set_pool('full', 1, at => $1), weir.set_pool('stopped', 0, at => $1), weir.set_pool('rated', rate => 1, per => '90 s', at => $1)`, at(0))
	e.exec(`select weir.register_node('n1', '{}', at => $1), weir.register_worker('w1', '{drained}', 'n1', at => $1),
		weir.set_node_mode('n1', 'draining', 'upgrade', at => $1)`, at(9))
	e.exec(`select weir.register_node('n2', '{}', '{"asleep": 1}', at => $1), weir.register_node('n3', '{}', '{"unseen": 1}', at => $1),
		weir.register_node('n4', '{}', '{"deaf": 1}', at => $1)`, at(-60))
	e.exec(`update weir.nodes set wake_method = 'http', wake_state = 'asleep', wake_at = $1 where name in ('n2', 'n4')`, at(-60))
	e.exec(`update weir.nodes set wake_tries = 2, wake_note = 'no route' where name = 'n4'`)
	e.exec(`select weir.register_worker('idle', '{busy}', at => $1)`, at(9))

	holder := e.submit(1, spec{"service": "hold1", "pool": "full"})
	started := e.submit(1, spec{"service": "hold2", "pool": "rated"})
	first := e.submit(1, spec{"service": "lane", "lane": "db", "rank": 1, "key": "first"})
	alone := e.submit(1, spec{"service": "alone", "lane": "x", "exclusive": true, "key": "alone"})
	_, job := e.submitJob(1, spec{"service": "a", "key": "build"}, spec{"service": "b", "key": "test", "needs": []string{"build"}})
	e.tend(2)
	e.run(3, holder)
	e.finish(4, e.run(3, started))
	e.run(3, alone)
	ran := e.submit(1, spec{"service": "run"})
	e.run(8, ran)
	slow := e.submit(1, spec{"service": "slow", "timeout": "5 s", "max_attempts": 1})
	e.run(2, slow)
	e.tend(8)

	for _, c := range []struct {
		code, task string
		args       map[string]any
	}{
		{"pool_full", e.submit(5, spec{"service": "s", "pool": "full"}), map[string]any{"pool": "full", "used": 1.0, "size": 1.0}},
		{"pool_stopped", e.submit(5, spec{"service": "s", "pool": "stopped"}), map[string]any{"pool": "stopped"}},
		{"rate_spent", e.submit(5, spec{"service": "s", "pool": "rated"}), map[string]any{"pool": "rated", "rate": 1.0, "per": 90.0, "next": 83.0}},
		{"lane_behind", e.submit(5, spec{"service": "s", "lane": "db", "rank": 2}), map[string]any{"lane": "db", "state": "available"}},
		{"lane_taken", e.submit(5, spec{"service": "s", "lane": "x"}), map[string]any{"lane": "x", "state": "running"}},
		{"needs_running", job["test"], map[string]any{"left": 1.0, "needs": 1.0}},
		{"not_before", e.submit(5, spec{"service": "s", "run_at": at(100)}), map[string]any{"in": 90.0}},
		{"held", e.submit(5, spec{"service": "s", "hold": "ann"}), map[string]any{"hold": "ann"}},
		{"no_worker", e.submit(5, spec{"service": "none", "labels": spec{"gpu": "yes"}}), map[string]any{"service": "none", "labels": "gpu=yes"}},
		{"no_worker", e.submit(5, spec{"service": "asleep"}), map[string]any{"service": "asleep", "node": "node_asleep"}},
		{"no_worker", e.submit(5, spec{"service": "unseen"}), map[string]any{"service": "unseen", "node": "node_unseen"}},
		{"no_worker", e.submit(5, spec{"service": "deaf"}), map[string]any{"service": "deaf", "node": "node_deaf"}},
		{"node_drained", e.submit(5, spec{"service": "drained"}), map[string]any{"service": "drained"}},
		{"queued", e.submit(5, spec{"service": "busy"}), map[string]any{"service": "busy", "n": 1.0, "ahead": 0.0}},
		{"lease", ran, map[string]any{"attempt": 1.0, "worker": "w"}},
		{"timeout", slow, map[string]any{"cause": "timed out after 5s"}},
		{"lane_first", first, map[string]any{"lane": "db"}},
	} {
		e.tend(9)
		e.reason(c.task, c.code, c.args)
	}
}

// ours are words of Korean sentences that are no Korean: names.
var ours = regexp.MustCompile(`\b(UTC|timed out after 5s|no route|upgrade)\b`)

// reason wants a reason of a task with a code and arguments, and the same English from SQL
// and from Go. In Korean there is nothing but names in other letters.
func (e *engine) reason(task, code string, args map[string]any) {
	e.Helper()
	var found *cause
	for _, c := range all[cause](e, `select * from weir.why($1, $2)`, task, at(10)) {
		if got := reason.Say("en", c.Code, c.Args); got != c.Reason {
			e.Errorf("%s: SQL says %q, Go says %q", c.Code, c.Reason, got)
		}
		if c.Code == code {
			found = &c
		}
	}
	if found == nil {
		e.Fatalf("no reason of %s is %s: %v", task, code, all[string](e, `select code || ' ' || args from weir.why($1, $2)`, task, at(10)))
	}
	for name, want := range args {
		got := found.Args[name]
		if more, ok := got.(map[string]any); ok {
			got = more["code"]
		}
		if got != want {
			e.Errorf("%s: %s is %v, want %v", code, name, got, want)
		}
	}
	korean := ours.ReplaceAllString(reason.Say("ko", code, found.Args), "")
	for _, name := range names(found.Args) {
		korean = strings.ReplaceAll(korean, name, "")
	}
	if left := regexp.MustCompile(`[A-Za-z]+`).FindString(korean); left != "" {
		e.Errorf("%s says %q in Korean: %s", code, left, korean)
	}
}

// names are the texts among the arguments of a reason that are names.
func names(args map[string]any) (out []string) {
	for key, value := range args {
		switch v := value.(type) {
		case string:
			if key != "code" && key != "state" && key != "mode" {
				out = append(out, v)
			}
		case map[string]any:
			out = append(out, names(v)...)
		case []any:
			for _, x := range v {
				if more, ok := x.(map[string]any); ok {
					out = append(out, names(more)...)
				}
			}
		}
	}
	return out
}
