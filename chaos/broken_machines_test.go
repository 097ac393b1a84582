//go:build unix

package chaos

// struck hits one machine while it works, with another beside it.
func struck(r *run, b blow, change func(*Machine)) []Finding {
	s := newStorm(r.T, r)
	s.conductor("server")
	victim := s.machine("victim", "sql", func(o *Orders) { change(o.Machine) })
	s.put(map[string]any{"name": "storm", "steps": s.lasting(3)})
	s.begin("storm")
	if !victim.busy() {
		s.Fatal("the victim has nothing to do")
	}
	heir := s.machine("heir", "sql")
	s.strike(b, victim)
	s.heal()
	return append(s.clears(3), s.remains(victim, heir)...)
}

// lasting returns steps that take longer than a machine's blow.
func (s *storm) lasting(n int) []map[string]any {
	list := s.steps(n, n)
	for _, one := range list {
		one["run"].(map[string]any)["env"].(map[string]string)["BEATS"] = "70"
	}
	return list
}

// unleashed work continues while its machine is stopped.
func unleashed(r *run, broken bool) []Finding {
	return struck(r, blowNamed("SIGSTOP for more than a lease"), func(m *Machine) { m.Loose = broken })
}

// blindAdoption continues with the work that it finds, whatever worker has the lease.
func blindAdoption(r *run, broken bool) []Finding {
	return struck(r, blowNamed("kill -9, back after its lease"), func(m *Machine) { m.Loose, m.Blind = broken, broken })
}

func blowNamed(name string) blow {
	for _, b := range blows {
		if b.name == name {
			return b
		}
	}
	panic("there is no blow called " + name)
}
