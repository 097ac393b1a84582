package target_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// TestRule9AnAttemptThatSleptIsShutOut: attempt 1 is stopped as by a machine that
// sleeps, attempt 2 does the work, and attempt 1 wakes up.
func TestRule9AnAttemptThatSleptIsShutOut(t *testing.T) {
	const file, text = "V001__people.sql", "create table people (id int);\ninsert into people values (1);\n"
	onBoth(t, func(t *testing.T, p *place) {
		for _, c := range []struct{ nap, want string }{
			// Its session is ended by attempt 2; what it had sent is undone.
			{"statement 0", "end: connection_lost unknown=true"},
			{"sent", "end: connection_lost"},
			// It had the lock and nothing else.
			{"locked", "end: connection_lost unknown=false"},
			// It had no session yet: the fence refuses it.
			{"open", "end: fenced unknown=false"},
		} {
			t.Run(c.nap, func(t *testing.T) {
				p := p
				if c.nap != "statement 0" { // a database each
					switch p.engine {
					case script.Postgres:
						p = onPostgres(t)
					default:
						p = onMaria(t)
					}
				}
				first := p.start(t, order{Run: p.change(t, 1, file, text), Nap: c.nap})
				first.await(t, c.nap)
				first.asleep(t)
				db := p.open(t, target.Options{})
				w := &watch{}
				result, err := db.Apply(t.Context(), p.change(t, 2, file, text), w)
				if err != nil || result.Replayed {
					t.Fatalf("attempt 2: %+v, %v", result, err)
				}
				if c.nap != "open" && !w.waited("older attempt") {
					t.Errorf("attempt 2 does not say that it ended attempt 1: %q", w.waits)
				}
				first.wake(t)
				if got := first.await(t, "end: "); len(got) < len(c.want) || got[:len(c.want)] != c.want {
					t.Errorf("attempt 1 ends with %q, want %q", got, c.want)
				}
				p.expect(t, "1", "select count(*) from people")
				p.expect(t, "1", "select count(*) from weir_history")
				p.expect(t, "2", "select attempt from weir_history")
				p.expect(t, "2", "select attempt from weir_fence")
			})
		}
	})
}

// TestRule9TheFenceStandsInsideTheTransaction: an attempt whose session nobody
// ended meets the fence before it changes anything.
func TestRule9TheFenceStandsInsideTheTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V001__people.sql", "create table people (id int);")
		w := &watch{onPhase: func(at target.Phase) error {
			if at == target.PhaseSent {
				p.exec(t, "update weir_fence set attempt = 2, token = 'other'")
			}
			return nil
		}}
		_, err := db.Apply(t.Context(), run, w)
		if f := failure(t, err, target.CodeFenced); f.Unknown {
			t.Error("nothing was sent, so nothing is unknown")
		}
		snap, err := db.Snapshot(t.Context())
		if err != nil || strings.Contains(snap.Text, "people") {
			t.Errorf("schema %q, %v", snap.Text, err)
		}
		p.expect(t, "0", "select count(*) from weir_history")
		_, err = db.Apply(t.Context(), run, &watch{})
		failure(t, err, target.CodeFenced)
	})
}

// The same attempt under another token is somebody else.
func TestRule9TheTokenCounts(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V001__people.sql", "create table people (id int); select broken;")
		_, err := db.Apply(t.Context(), run, &watch{})
		failure(t, err, target.CodeSQL)
		run.Token = "another"
		_, err = db.Apply(t.Context(), run, &watch{})
		failure(t, err, target.CodeFenced)
	})
}
