package enginetest

import (
	"testing"

	"github.com/weirhq/weir/internal/testwait"
)

// slowClock lets a session read the time and then be held up: with weir.slow set
// it waits for whoever holds lock 4711.
const slowClock = `create or replace function weir._clock(at timestamptz) returns timestamptz language plpgsql as $$
declare
  t timestamptz := coalesce(at, clock_timestamp());
begin
  if current_setting('weir.slow', true) = 'on' then
    perform pg_advisory_lock(4711);
    perform pg_advisory_unlock(4711);
  end if;
  return t;
end $$`

// TestR6AClaimIsAfterWhatLetItThrough: a worker that is held up between its look at
// the clock and its look at the tasks does not get a task that was let through
// meanwhile with a time before that. Else the timeline shows more at once than a
// pool has room for.
func TestR6AClaimIsAfterWhatLetItThrough(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.exec(slowClock)
	e.exec(`select weir.set_pool('p', 1)`)
	e.exec(`select weir.submit('s', pool => 'p') from generate_series(1, 2)`)
	e.exec(`select weir.open_gates(null, array['p'])`)
	e.exec(`select weir.register_worker('slow', '{s}')`)
	e.exec(`select weir.claim('first', '{s}', 2)`)
	sessions := e.newSessions(2)
	slow, gate := sessions[0], sessions[1]
	do := func(s *session, sql string) {
		t.Helper()
		s.send(sql)
		if err := s.result(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	do(slow, `set weir.slow = on`)
	do(gate, `select pg_advisory_lock(4711)`)
	claim := func() {
		slow.send(`select weir.claim('slow', '{s}')`)
		testwait.Every(e, glance, "the claim returns or waits", func() bool { return slow.ready() || slow.blocked() })
	}
	claim()
	e.exec(`select weir.finish(task, attempt, token) from weir.running`)
	if slow.ready() { // it looked before there was something to take
		if err := slow.result(); err != nil {
			t.Fatal(err)
		}
		claim()
	}
	do(gate, `select pg_advisory_unlock(4711)`)
	if err := slow.result(); err != nil {
		t.Fatal(err)
	}
	if n := one[int](e, `select count(*) from weir.running r, weir.finished f where r.claimed_at >= f.at and r.claimed_at >= r.opened_at`); n != 1 {
		t.Error("the second task was claimed before the first one had ended")
	}
}
