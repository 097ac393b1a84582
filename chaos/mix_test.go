//go:build unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// mix is a run with every kind of task and random faults.
type mix struct {
	*run
	rng    *rand.Rand
	agents []*Agent
	proxy  []*Proxy
	server *Server
	round  int
	log    []string
}

func newMix(r *run, seed uint64) *mix {
	m := &mix{run: r, rng: rand.New(rand.NewPCG(seed, 0))}
	r.exec(`select weir.set_pool('small', 3)`)
	r.exec(`select weir.set_pool('rated', null, 50, '1 s')`)
	for i := range 3 {
		p, err := NewProxy(fmt.Sprintf("p%d", i+1), r.url)
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(p.Close)
		m.proxy = append(m.proxy, p)
		m.agents = append(m.agents, m.hire(i))
	}
	return m
}

// hire starts the agent of one place; the second place has the SDK's worker.
func (m *mix) hire(i int) *Agent {
	o := with(plain(), func(o *Orders) {
		o.Name, o.URL, o.Patience = fmt.Sprintf("agent-%d-%d", i+1, m.round), m.proxy[i].URL(), 500*time.Millisecond
		if i == 1 {
			o.Kind = "sdk"
		}
	})
	m.round++
	return m.agent(o, nil)
}

// tasks submits some of every kind.
func (m *mix) tasks(n int) {
	kinds := []func(i int) Spec{
		func(int) Spec { return Spec{} },
		func(int) Spec { return Spec{"pool": "small"} },
		func(int) Spec { return Spec{"pool": "rated"} },
		func(i int) Spec { return Spec{"lane": fmt.Sprintf("alone-%d", i%3), "exclusive": true} },
		func(i int) Spec {
			return Spec{"lane": fmt.Sprintf("shared-%d", i%2), "exclusive": i%5 == 0, "pool": "small"}
		},
		func(int) Spec { return Spec{"run_at": time.Now().Add(300 * time.Millisecond)} },
		func(int) Spec { return Spec{"priority": m.rng.IntN(10)} },
	}
	ids := m.submit(n, func(i int) Spec {
		s := kinds[m.rng.IntN(len(kinds))](i)
		s["params"], s["backoff"], s["max_attempts"] = Params{WorkMS: m.rng.IntN(60), Fails: max(0, m.rng.IntN(6)-4)}, "50 ms", 10
		return s
	})
	// All ranks of a lane are submitted in one call, because a lower rank that comes
	// later is late, not overtaken.
	lane := fmt.Sprintf("ranked-%d", m.rng.Uint32())
	m.submit(4, func(i int) Spec {
		return Spec{"lane": lane, "rank": 4 - i, "exclusive": i%2 == 0, "params": Params{WorkMS: 20}, "max_attempts": 20, "backoff": "50 ms"}
	})
	m.within(10*time.Second, func() bool {
		out, _ := m.driver.SubmitJob(m.ctx, Spec{"service": "work", "key": "a"},
			Spec{"service": "work", "key": "b", "params": Params{WorkMS: 30}},
			Spec{"service": "work", "key": "c", "needs": []string{"a", "b"}, "pool": "small"},
			Spec{"service": "work", "key": "d", "needs": []string{"b"}, "rule": "one_failed"},
			Spec{"service": "work", "key": "e", "needs": []string{"c", "d"}, "rule": "all_done"})
		return out == OK
	})
	for range n / 10 {
		id := ids[m.rng.IntN(len(ids))]
		_, _, _ = m.driver.Cancel(m.ctx, id) // it may have ended, or the server may be down
		_, _, _ = m.driver.Read(m.ctx, id)
	}
}

// fault is one fault; it ends what it began.
type fault struct {
	name string
	do   func(m *mix)
}

var faults = []fault{
	{"kill -9 an agent", func(m *mix) {
		i := m.rng.IntN(len(m.agents))
		m.agents[i].Stop()
		m.agents[i] = m.hire(i)
	}},
	{"pause an agent for two leases", func(m *mix) {
		a := m.agents[m.rng.IntN(len(m.agents))]
		if a.Pause() == nil {
			m.pass(2 * m.lease)
			_ = a.Resume() // else it is gone
		}
	}},
	{"lose the replies to an agent", func(m *mix) { m.cut((*Proxy).LoseReplies) }},
	{"cut an agent off", func(m *mix) { m.cut((*Proxy).Partition) }},
	{"terminate backends", func(m *mix) {
		for range 10 {
			_, _ = m.pool.Exec(m.ctx, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`)
			m.pass(30 * time.Millisecond)
		}
	}},
	{"hold hot rows", func(m *mix) {
		if tx, err := m.pool.Begin(m.ctx); err == nil {
			_, _ = tx.Exec(m.ctx, `select from weir.available for update skip locked`)
			_, _ = tx.Exec(m.ctx, `select from weir.running for update skip locked`)
			m.pass(500 * time.Millisecond)
			_ = tx.Rollback(m.ctx)
		}
	}},
	{"kill -9 PostgreSQL", func(m *mix) {
		if m.server != nil {
			if err := m.server.Kill(m.ctx); err != nil {
				m.Fatal(err)
			}
		}
	}},
}

func (m *mix) cut(how func(*Proxy) error) {
	p := m.proxy[m.rng.IntN(len(m.proxy))]
	if err := how(p); err != nil {
		m.Fatal(err)
	}
	m.pass(m.lease/2 + time.Duration(m.rng.Int64N(int64(m.lease))))
	p.Heal()
}

// rage causes faults until the time is over.
func (m *mix) rage(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); {
		m.tasks(40)
		f := faults[m.rng.IntN(len(faults))]
		m.log = append(m.log, f.name)
		f.do(m)
	}
	m.heal()
}

// settle makes the decision of a person: a failed rank blocks its lane.
func (m *mix) settle() {
	m.within(2*m.lease, func() bool {
		_, err := m.pool.Exec(m.ctx, `select weir.skip(task, 'chaos') from weir.lane_blocks`)
		var left int
		return err == nil && m.pool.QueryRow(m.ctx, `select count(*) from weir.pending`).Scan(&left) == nil && left == 0
	})
}

// TestR7R8R12_EverythingAtOnce mixes all gates with all faults for a while. All gates
// hold at every instant, a reader of the timeline misses nothing, and the work drains.
func TestR7R8R12_EverythingAtOnce(t *testing.T) {
	t.Parallel()
	m := newMix(newRun(t), 1)
	m.judged(8 * time.Second)
}

// judged causes faults, waits and judges.
func (m *mix) judged(d time.Duration) {
	m.Helper()
	follower := Follow(m.ctx, m.pool)
	m.rage(d)
	m.settle()
	m.clean()
	found, err := follower.Findings(m.ctx)
	if err != nil {
		m.Fatal(err)
	}
	if len(found) > 0 {
		m.Errorf("%s", Report(found))
	}
	m.Logf("faults: %v", m.log)
}
