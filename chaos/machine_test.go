//go:build unix

package chaos

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

// blow is a fault of a machine. It ends what it began.
type blow struct {
	name string
	do   func(m *machine) error
}

// The blows after which the machine still holds its leases come first.
var blows = []blow{
	{"kill -9, back at once", func(m *machine) error {
		before := m.adopted()
		m.Stop()
		m.start()
		// On a slow machine the leases may be lost by then: there is nothing to adopt.
		m.storm.within(m.storm.lease, func() bool { return m.adopted() > before })
		return nil
	}},
	{"kill -9 of its keeper", func(m *machine) error {
		keepers, err := Keepers(m.orders.Machine.Dir)
		for _, pid := range keepers {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		return err
	}},
	{"lost replies", func(m *machine) error { return m.without((*Proxy).LoseReplies, m.storm.lease/2) }},
	{"slow link", func(m *machine) error {
		return m.without(func(p *Proxy) error { return p.Slow(100 * time.Millisecond) }, m.storm.lease)
	}},
	{"SIGSTOP for more than a lease", func(m *machine) error {
		if err := m.Pause(); err != nil {
			return err
		}
		m.storm.pass(m.storm.lease * 3 / 2)
		return m.Resume()
	}},
	{"partition for more than a lease", func(m *machine) error { return m.without((*Proxy).Partition, m.storm.lease*3/2) }},
	{"kill -9, back after its lease", func(m *machine) error {
		m.Stop()
		m.storm.pass(m.storm.lease * 3 / 2)
		m.start()
		return nil
	}},
}

// without lets a machine work without its usual link for a while.
func (m *machine) without(cut func(*Proxy) error, d time.Duration) error {
	defer m.proxy.Heal()
	if err := cut(m.proxy); err != nil {
		return err
	}
	m.storm.pass(d)
	return nil
}

// up restarts an agent that gave up because its server did not answer in time, as a
// service manager does.
func (m *machine) up() {
	select {
	case <-m.Ended():
		m.start()
	default:
	}
}

// strike lets a blow fall on machines at the same time, while they work.
func (s *storm) strike(b blow, machines ...*machine) {
	s.Helper()
	// Another test checks that three lost workers make a task poison: here the machines
	// are at fault and not the task.
	s.exec(`delete from weir.forgiven`)
	var all sync.WaitGroup
	for _, m := range machines {
		all.Go(func() {
			m.up()
			if !m.busy() {
				s.Logf("%s has nothing to do when it is hit: %s", m.orders.Name, b.name)
			}
			if err := b.do(m); err != nil {
				s.Errorf("%s: %s: %v", m.orders.Name, b.name, err)
			}
		})
	}
	all.Wait()
}

// TestR3R4R6_WorkflowOnFailingMachines runs a workflow of 200 steps on four machines, two
// over SQL and two over HTTPS, while each kind is killed, paused, cut off, slowed down
// and loses answers. Every step is done once, no two attempts of a step live at the same
// time, the recorded result is what the winner did, and nothing is left on the machines.
func TestR3R4R6_WorkflowOnFailingMachines(t *testing.T) {
	t.Parallel()
	s := newStorm(t, newRun(t))
	s.serve()
	s.conductor("server-1")
	s.conductor("server-2")
	pairs := [][]*machine{{s.machine("sql-1", "sql"), s.machine("https-1", "https")}, {s.machine("sql-2", "sql"), s.machine("https-2", "https")}}
	s.put(map[string]any{"name": "storm", "steps": s.steps(200, 20)})
	began := time.Now()
	s.begin("storm")
	for i, b := range blows {
		s.strike(b, pairs[i%2]...)
	}
	s.heal()
	found := s.clears(200)
	took := time.Since(began)
	all := append(pairs[0], pairs[1]...)
	adopted := 0
	for _, m := range all {
		adopted += m.adopted()
	}
	if found = append(found, s.remains(all...)...); len(found) > 0 {
		t.Error(Report(found))
	}
	t.Logf("%d blows, 200 steps in %s, %d attempts were adopted", 2*len(blows), took.Round(time.Millisecond), adopted)
}
