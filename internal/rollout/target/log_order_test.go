package target_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// TestTheLogIsInOrder runs random changes, some of whose statements the server undoes
// once, and ends the session after a random one: the next attempt tells every
// statement, once for each try of its step, in the order of the source.
func TestTheLogIsInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		if p.engine == script.Postgres {
			p.exec(t, `create function once(name text) returns int language plpgsql as $$
				begin
					if nextval(name::regclass) = 1 then raise exception 'not yet' using errcode = '40001'; end if;
					return 1;
				end $$`)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		for n := range 12 {
			text := someChange(t, p, rng, n)
			file := fmt.Sprintf("V%03d__random.sql", n+1)
			run := p.change(t, 1, file, text)
			cut := rng.IntN(statementsOf(run) + 1)
			db := p.open(t, target.Options{})
			name := target.ApplicationName(run.Task, 1)
			w := &watch{onStatement: func(s target.StatementDone) {
				if s.Index == cut {
					if _, err := db.Cancel(t.Context(), name, true); err != nil {
						t.Error(err)
					}
				}
			}}
			_, err := db.Apply(t.Context(), run, w)
			inOrder(t, run, w.statements, err == nil)
			if err != nil {
				if f := failure(t, err, target.CodeLost); !f.Unknown {
					t.Fatalf("%v: want unknown", f)
				}
				w = &watch{}
				result, err := db.Apply(t.Context(), p.change(t, 2, file, text), w)
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				if !result.Replayed {
					inOrder(t, run, w.statements, true)
				}
			}
			p.expect(t, fmt.Sprint(n+1), "select count(*) from weir_history")
			p.expect(t, "0", "select count(*) from weir_steps")
			if t.Failed() {
				t.Fatalf("cut after statement %d of\n%s", cut, text)
			}
		}
	})
}

func statementsOf(run target.Run) (n int) {
	for _, step := range run.Steps {
		n += len(step.Statements)
	}
	return n
}

// someChange has up to eight statements, on up to two lines each.
func someChange(t *testing.T, p *place, rng *rand.Rand, n int) string {
	t.Helper()
	var b strings.Builder
	table := fmt.Sprintf("t%d", n)
	fmt.Fprintf(&b, "create table %s (id int,\n note varchar(20));\n", table)
	for i := range rng.IntN(8) {
		switch kind := rng.IntN(4); {
		case kind == 0:
			fmt.Fprintf(&b, "create table %s_%d (id int);\n", table, i)
		case kind == 1:
			fmt.Fprintf(&b, "insert into %s (id, note)\nvalues (%d, 'x');\n", table, i)
		case kind == 2 && p.engine == script.Postgres:
			fmt.Fprintf(&b, "create index concurrently %s_%d_at on %s (note);\n", table, i, table)
		case kind == 3 && p.engine == script.Postgres:
			sequence := fmt.Sprintf("s%d_%d", n, i)
			p.exec(t, "create sequence "+sequence)
			fmt.Fprintf(&b, "select once('%s');\n", sequence)
		default:
			fmt.Fprintf(&b, "alter table %s add column c%d int;\n", table, i)
		}
	}
	return b.String()
}

// inOrder checks a log against the statements of the change. Complete: it came to
// the end.
func inOrder(t *testing.T, run target.Run, log []target.StatementDone, complete bool) {
	t.Helper()
	var want []target.StatementDone
	first := map[int]int{} // of a step
	for i, step := range run.Steps {
		first[i] = len(want)
		for _, s := range step.Statements {
			want = append(want, target.StatementDone{Step: i, Index: s.Index, Line: s.Line, EndLine: s.EndLine, Tag: s.Tag})
		}
	}
	next, try := 0, 1
	for n, s := range log {
		switch {
		case next > 0 && s.Step == want[next-1].Step && s.Try > try: // the step is tried again, from its beginning
			next = first[s.Step]
		case next < len(want) && (next == 0 || s.Step != want[next-1].Step):
			try = s.Try // another step counts for itself
		}
		if next == len(want) {
			t.Fatalf("line %d of the log is one too many: %+v", n, s)
		}
		w := want[next]
		if s.Step != w.Step || s.Index != w.Index || s.Line != w.Line || s.EndLine != w.EndLine || s.Tag != w.Tag || s.Try < try {
			t.Fatalf("line %d of the log is %+v, want %+v of try %d or later", n, s, w, try)
		}
		next, try = next+1, s.Try
	}
	if complete && next != len(want) {
		t.Fatalf("the log ends after %d of %d statements: %+v", next, len(want), log)
	}
}
