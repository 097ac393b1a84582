package definition

import (
	"slices"
	"time"
)

const (
	// maxFinals is how many steps may end a job, because each waits for all others.
	maxFinals = 20
	// A finally step that sets no limits has these, so that a job that was canceled
	// comes to an end.
	finallyRun   = Duration(10 * time.Minute)
	finallyQueue = Duration(time.Hour)
)

// rule returns the rule of the step's task.
func (s *Step) rule() string {
	if s.Finally {
		return "finally"
	}
	return s.Rule
}

// waitsFor returns the steps that must have ended before this one starts: its needs, and
// for a finally step every step that is none. The leaves would not do, because a step is
// skipped as soon as one of its needs has failed, while others still run.
func (d *Definition) waitsFor(s *Step) []string {
	if !s.Finally {
		return s.Needs
	}
	var keys []string
	for i := range d.Steps {
		if !d.Steps[i].Finally {
			keys = append(keys, d.Steps[i].Key)
		}
	}
	for _, need := range s.Needs {
		if !slices.Contains(keys, need) {
			keys = append(keys, need)
		}
	}
	return keys
}

// Drawn returns the steps from which a picture leads to this one: of a finally step, those
// behind which nothing else comes.
func (d *Definition) Drawn(s *Step) []string {
	if !s.Finally {
		return s.Needs
	}
	var keys []string
	followed := map[string]bool{}
	for i := range d.Steps {
		for _, need := range d.Steps[i].Needs {
			followed[need] = true
		}
	}
	for i := range d.Steps {
		t := &d.Steps[i]
		if leaf := !t.Finally && !followed[t.Key]; leaf || t.Finally && slices.Contains(s.Needs, t.Key) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// timeout returns the limits of a step: its own, or the workflow's.
func (d *Definition) timeout(s *Step) *Timeout {
	t := orElse(s.Timeout, d.Timeout)
	if !s.Finally {
		return t
	}
	out := Timeout{}
	if t != nil {
		out = *t
	}
	if out.Run == 0 {
		out.Run = finallyRun
	}
	if out.Queue == 0 {
		out.Queue = finallyQueue
	}
	return &out
}

// finally checks a step that ends the job.
func (l *linter) finally(s *Step, at string) {
	if s.Rule != "" {
		l.add(at+".rule", "remove it", "a finally step runs however the others ended")
	}
	for key, used := range map[string]bool{"map": s.Map != nil, "workflow": s.Workflow != "", "approval": s.Approval != nil, "wait": s.Wait != nil, "delay": s.Delay > 0} {
		if used {
			l.add(join(at, key), "do it in a step before, or in the work of this one", "a finally step has no %s: it runs at once, also when the job was canceled", key)
		}
	}
}

// finals checks how many steps end the job, and that no other step waits for them.
func (l *linter) finals() {
	n := 0
	for i := range l.Steps {
		s := &l.Steps[i]
		if s.Finally {
			if n++; n > maxFinals {
				l.add(item("steps", i)+".finally", "do more in one of them", "more than %d steps are finally", maxFinals)
				return
			}
			continue
		}
		for j, need := range s.Needs {
			if of := l.Step(need); of != nil && of.Finally {
				l.add(item(item("steps", i)+".needs", j), "let this step be finally: true too, or drop the need", "%q runs after all other steps, so none of them can wait for it", need)
			}
		}
	}
	if n > 0 && n == len(l.Steps) {
		l.add("steps", "leave finally out of the others", "all steps are finally, so there is nothing to end")
	}
}
