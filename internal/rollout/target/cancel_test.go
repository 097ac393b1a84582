package target_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

func TestRule8CancelReturnsWhenTheBackendIsGone(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)")
		text := "insert into base values (1);\nselect pg_sleep(600);\n"
		if p.engine == script.MySQL {
			text = "insert into base values (1);\ninsert into base select 2 from (select sleep(600) x) y;\n"
		}
		run := p.change(t, 1, "V001__slow.sql", text)
		name := target.ApplicationName(run.Task, 1)
		db := p.open(t, target.Options{})
		why := errors.New("no longer wanted")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		done := applying(ctx, db, run, &watch{})
		testwait.Until(t, "the slow statement runs", func() bool {
			list, err := db.Activity(t.Context(), name)
			return err == nil && len(list) == 1 && strings.Contains(list[0].Query, "sleep")
		})
		cancel(why)
		err := <-done
		if f := failure(t, err, target.CodeCanceled); f.Unknown || !errors.Is(err, why) {
			t.Errorf("%+v: want the cause, and nothing unknown", f)
		}
		if list, err := db.Activity(t.Context(), name); err != nil || len(list) != 0 {
			t.Errorf("its backend is still there: %+v, %v", list, err)
		}
		p.expect(t, "0", "select count(*) from base")
		p.expect(t, "0", "select count(*) from weir_history")
	})
}

// A statement that does not obey loses its session after the grace. Inside a
// transaction that undoes it; outside nobody knows what it did before.
func TestRule8AStubbornStatementLosesItsSession(t *testing.T) {
	const body = `language plpgsql as $$
		begin
			loop
				begin
					perform pg_sleep(600);
				exception when query_canceled then null;
				end;
			end loop;
		end $$`
	for text, unknown := range map[string]bool{"select stubborn();": false, "-- weir: transaction=off\ncall obstinate();": true} {
		t.Run(text, func(t *testing.T) {
			p := onPostgres(t)
			p.exec(t, "create function stubborn() returns int "+body, "create procedure obstinate() "+body)
			run := p.change(t, 1, "V001__stubborn.sql", text)
			name := target.ApplicationName(run.Task, 1)
			db := p.open(t, target.Options{Grace: 300 * time.Millisecond})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := applying(ctx, db, run, &watch{})
			testwait.Until(t, "it runs", func() bool {
				return p.one(t, "select count(*) from pg_stat_activity where application_name = $1 and wait_event = 'PgSleep'", name) == "1"
			})
			cancel()
			if f := failure(t, <-done, target.CodeCanceled); f.Unknown != unknown {
				t.Errorf("%+v: unknown should be %v", f, unknown)
			}
			p.expect(t, "0", "select count(*) from pg_stat_activity where application_name = $1", name)
		})
	}
}

// A run that waits for the target stops at once, and nothing was sent.
func TestRule8AWaiterStops(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		second := &watch{onWaiting: func(string) { cancel() }}
		var inside error
		w := &watch{onPhase: func(at target.Phase) error {
			if at == target.PhaseSent {
				_, inside = db.Apply(ctx, p.change(t, 1, "V2__b.sql", "create table b (id int);"), second)
			}
			return nil
		}}
		if _, err := db.Apply(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"), w); err != nil {
			t.Fatal(err)
		}
		if f := failure(t, inside, target.CodeCanceled); f.Unknown || len(second.phases) != 0 {
			t.Errorf("%+v after %q", f, second.phases)
		}
	})
}

// The watch has the last word before anything is sent.
func TestTheWatchStopsARun(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		why := errors.New("the lease is over")
		w := &watch{onPhase: func(at target.Phase) error {
			if at == target.PhaseSent {
				return why
			}
			return nil
		}}
		db := p.open(t, target.Options{})
		_, err := db.Apply(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"), w)
		if f := failure(t, err, target.CodeStopped); f.Unknown || !errors.Is(err, why) {
			t.Errorf("%+v", f)
		}
		p.expect(t, "0", "select count(*) from weir_history")
		p.expect(t, "0", "select count(*) from weir_steps")
	})
}
