package enginetest

import "slices"

// turn says what a task that waits for others may do now: go on, be skipped, or
// wait. A task that was split into others waits for all of them, however they end.
func (x *twinTask) turn() string {
	switch rule := x.rule; {
	case x.awaits != nil && len(x.open) > 0:
		return "wait"
	case x.awaits != nil:
		return "go"
	case rule == "one_failed" && x.broken, len(x.open) == 0 && (rule == "all_done" || rule == "all_success" && !x.broken):
		return "go"
	case rule == "all_success" && x.broken, rule == "one_failed" && len(x.open) == 0:
		return "skip"
	}
	return "wait"
}

// count looks at what a task waits for as if for the first time.
func (x *twinTask) count() {
	x.open, x.broken = nil, false
	needs := x.needs
	if x.awaits != nil {
		needs = x.awaits
	}
	for _, n := range needs {
		if !n.ended() {
			x.open = append(x.open, n)
		}
		x.broken = x.broken || n.ended() && !n.fine()
	}
}

// follows says that a task needs another one, directly or not: it cannot end before
// it, or could not once it is brought back.
func (x *twinTask) follows(o *twinTask) bool {
	return x == o || slices.ContainsFunc(slices.Concat(x.needs, x.awaits), func(n *twinTask) bool { return n.follows(o) })
}

// grow lets tasks join a job.
func (w *twin) grow(now int, job *twinJob, tasks ...*twinTask) {
	base := len(job.tasks)
	var doomed []*twinTask
	for i, x := range tasks {
		x.order, x.position, x.job, x.state, x.gate = job.tasks[0].order, base+i+1, job, "pending", "needs"
		job.tasks, w.tasks = append(job.tasks, x), append(w.tasks, x)
	}
	for _, x := range tasks {
		x.count()
		switch turn := x.turn(); {
		case len(x.needs) == 0 || turn == "go":
			w.advance(now, x)
		case turn == "skip":
			doomed = append(doomed, x)
		}
	}
	w.end(now, "skipped", doomed...)
}

// split lets a task that is to be planned wait for others.
func (w *twin) split(x *twinTask, parts []*twinTask) {
	x.awaits = parts
	if x.count(); len(x.open) > 0 {
		x.gate = "needs"
	}
}

func (w *twin) planTask(now int, x *twinTask) {
	x.plan = false
	w.advance(now, x)
}

func (w *twin) decide(now int, x *twinTask, outcome string, passes bool) {
	if outcome != "skipped" {
		x.attempt++
	}
	x.passes = passes
	w.end(now, outcome, x)
}

// endParts ends what a task was split into and nobody works on.
func (w *twin) endParts(now int, state string, x *twinTask) {
	var waiting []*twinTask
	for _, p := range x.awaits {
		switch {
		case p.state == "pending" || p.state == "available":
			p.passes = state == "skipped"
			waiting = append(waiting, p)
		case p.state == "running" && state == "canceled":
			p.asked = true
		}
	}
	w.end(now, state, waiting...)
}

// revive brings tasks back, and all that ended because of them. In order, a need
// that lives again comes first.
func (w *twin) revive(now int, inOrder bool, given ...*twinTask) {
	bring := func(x *twinTask, gate string) {
		x.state, x.gate, x.runAt, x.block, x.passes, x.broken = "pending", gate, now, false, false, false
		if x.attempt == 0 {
			x.hold = x.approval
		}
	}
	for _, x := range given {
		if inOrder || x.awaits != nil {
			bring(x, "needs")
		} else {
			bring(x, "time")
		}
	}
	job := given[0].job
	if job == nil {
		return
	}
	job.outcome, job.canceled = "", false
	back := slices.Clone(given)
	isBack := func(n *twinTask) bool { return slices.Contains(back, n) }
	for again := true; again; {
		again = false
		for _, d := range job.tasks {
			bad := slices.ContainsFunc(d.needs, func(n *twinTask) bool { return n.ended() && !n.fine() })
			switch {
			case d.state == "skipped" && !d.passes && slices.ContainsFunc(d.needs, isBack) && (d.rule != "all_success" || !bad):
				d.awaits = nil
			case d.state == "failed" && d.plan && slices.ContainsFunc(d.awaits, isBack):
			default:
				continue
			}
			bring(d, "needs")
			back, again = append(back, d), true
		}
	}
	for _, d := range job.tasks {
		if d.state == "pending" && d.gate == "needs" {
			if d.count(); len(d.open) == 0 && slices.Contains(given, d) {
				d.gate = "time"
			}
		}
	}
}

// again gives tasks another round of attempts.
func (w *twin) again(now int, given []*twinTask) {
	for _, x := range given {
		x.forgiven, x.crashes = x.attempt, 0
		if x.gate == "time" {
			w.advance(now, x)
		}
	}
}

func (w *twin) retry(now int, x *twinTask) {
	given := []*twinTask{x}
	for _, p := range x.awaits {
		if x.plan && (p.state == "failed" || p.state == "canceled") {
			given = append(given, p)
		}
	}
	w.revive(now, false, given...)
	w.again(now, given)
}

func (w *twin) retryJob(now int, job *twinJob) {
	given := job.broken()
	w.revive(now, true, given...)
	w.again(now, given)
}

// broken are the tasks that failed or were canceled.
func (j *twinJob) broken() (list []*twinTask) {
	for _, x := range j.tasks {
		if x.state == "failed" || x.state == "canceled" {
			list = append(list, x)
		}
	}
	return list
}

func (w *twin) skip(now int, x *twinTask) {
	if x.state == "failed" {
		w.revive(now, false, x)
	}
	x.passes = true
	w.end(now, "skipped", x)
	w.endParts(now, "skipped", x)
}
