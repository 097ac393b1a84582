package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/node"
)

// storm does what PCs, agents, people and the leader do, all at once and at random.
type storm struct {
	*rig
	pool *pgxpool.Pool
	pcs  int
	// rings counts deadlocks. A transaction that a deadlock ends is retried, so a single
	// one does no harm; more of them mean a wrong order of locks.
	rings atomic.Int64
}

// do runs a statement. Refusals are answers; anything else is a fault.
func (s *storm) do(sql string, args ...any) {
	_, err := s.pool.Exec(s.Context(), sql, args...)
	if state, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(state.Code, "WR") {
		return
	} else if ok && state.Code == "40P01" {
		s.Logf("%s: %s", sql, state.Detail)
		s.rings.Add(1)
		return
	}
	if err != nil {
		s.Errorf("%s: %v", sql, err)
	}
}

// devices returns the devices of a PC; some are away, and one of them moves between PCs.
func (s *storm) devices(dice *rand.Rand, pc int) string {
	var list []node.Device
	for _, d := range named(fmt.Sprintf("p%d-", pc), 12) {
		d.Hub = "hub" + d.Serial[len(d.Serial)-1:]
		if dice.IntN(60) > 0 {
			list = append(list, d)
		}
	}
	if dice.IntN(s.pcs) == 0 {
		list = append(list, node.Device{Serial: "wanderer"})
	}
	if dice.IntN(30) == 0 {
		list = list[:len(list)/2]
	}
	text, err := json.Marshal(list)
	if err != nil {
		s.Error(err)
	}
	return string(text)
}

func (s *storm) step(dice *rand.Rand) {
	pc := 1 + dice.IntN(s.pcs)
	name := fmt.Sprintf("PC-%02d", pc)
	serial := fmt.Sprintf("p%d-%02d", pc, 1+dice.IntN(12))
	const some = ` from (select * from weir.running r where r.device is not null order by random() limit 3) r`
	switch n := dice.IntN(100); {
	case n < 10:
		s.do(`select weir.fleet_report($1, $2)`, name, s.devices(dice, pc))
	case n < 40:
		s.do(`select weir.fleet_claim($1, $1, $2)`, name, 1+dice.IntN(6))
	case n < 60:
		s.do(`select weir.finish(r.task, r.attempt, r.token)` + some + ` limit 1`)
	case n < 72:
		s.do(`select weir.fail(r.task, r.attempt, r.token, 'broken')` + some + ` limit 1`)
	case n < 78:
		s.do(`select weir.fleet_fail(r.task, r.attempt, r.token, 'cable', true)` + some + ` limit 1`)
	case n < 80:
		s.do(`select weir.confirm_cancel(r.task, r.attempt, r.token)` + some + ` where r.cancel_at is not null limit 1`)
	case n < 84:
		s.do(`select weir.tend(sweep => true, at => clock_timestamp() + interval '20 s')`)
	case n < 88:
		s.do(`select weir.fleet_tend(at => clock_timestamp() + interval '31 s')`)
		// Two minutes are longer than a storm.
		s.do(`update weir.pcs set paused_until = null where paused_until is not null and node = $1`, pc)
	case n < 92:
		s.do(`select weir.fleet_submit('storm', $1)`, []string{
			`{"run": {"argv": ["x"]}, "target": {"all": true}, "backoff": "0s", "linger": "0s"}`,
			`{"run": {"argv": ["x"]}, "target": {"all": true}, "any": 20, "backoff": "0s", "linger": "0s", "infra": {"place": "other_device"}}`,
			`{"run": {"argv": ["x"]}, "target": {"all": true}, "join": "running", "attempts": 1, "backoff": "0s", "linger": "0s"}`,
		}[dice.IntN(3)])
	case n < 94:
		s.do(`select weir.fleet_cancel(j.job) from (select job from weir.fleet_jobs where state <> 'ended' order by random() limit 1) j`)
	case n < 95:
		s.do(`select weir.cancel(u.task) from (select task from weir.fleet_units where state = 'retrying' order by random() limit 1) u`)
	case n < 97:
		s.do(`select weir.device_release($1, 'ann', 'storm')`, serial)
	case n < 98:
		s.do(`select weir.device_quarantine($1, 'ann', 'storm')`, serial)
	case n < 99:
		s.do(`select weir.set_slots($1, $2)`, name, 3+dice.IntN(10))
	default:
		s.do(`select weir.set_fleet_policy($1)`, []string{`{"overlap": true}`, `{"overlap": false}`, `{"policy": "evidence"}`, `{"policy": "strict"}`, `{"health": {"run": {"argv": ["h"]}}}`, `{"health": null}`}[dice.IntN(6)])
	}
}

// TestStorm ends with the doctor, as every test does: all invariants hold, whatever
// happened at the same time. The seed is printed with a fault.
func TestStorm(t *testing.T) {
	t.Parallel()
	const callers, steps = 12, 200
	r := newRig(t)
	s := &storm{rig: r, pool: r.wide(callers), pcs: 4}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for pc := 1; pc <= s.pcs; pc++ {
		s.do(`select weir.fleet_report($1, $2)`, fmt.Sprintf("PC-%02d", pc), s.devices(rand.New(rand.NewPCG(seed, 0)), pc))
	}
	var all sync.WaitGroup
	for caller := range uint64(callers) {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(seed, caller))
			for range steps {
				s.step(dice)
			}
		})
	}
	all.Wait()
	if n := s.rings.Load(); n > 1 {
		t.Errorf("%d deadlocks", n)
	}
	if n := r.count(`select count(*) from weir.finished`); n < 30 {
		t.Errorf("only %d tasks ended: the storm was a breeze", n)
	}
	// The rest can end: everything is canceled, and nothing stays behind.
	r.exec(`select weir.fleet_cancel(j.job) from weir.fleet_jobs j where j.state <> 'ended' order by j.order_seq`)
	r.exec(`select weir.give_back_many(array_agg(r.task), array_agg(r.attempt::int), array_agg(r.token)) from weir.running r`)
	r.exec(`select weir.tend(sweep => true)`)
	r.want("jobs that live", r.count(`select count(*) from weir.fleet_jobs where state <> 'ended'`), 0)
	r.want("units that live", r.count(`select count(*) from weir.fleet_units where state in ('waiting', 'running', 'retrying')`), 0)
	r.want("available", r.count(`select count(*) from weir.available a join weir.tasks q on q.id = a.task where q.job is not null`), 0)
}
