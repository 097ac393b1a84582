package enginetest

import (
	"cmp"
	"slices"
)

// twin is the engine once more: in memory, one call at a time, slow, with
// nothing clever in it. Time is a number of seconds that the caller hands in.
type twin struct {
	tasks []*twinTask
	jobs  map[string]*twinJob
	sizes map[string]int // of pools
	order int            // the last order_seq
}

type twinTask struct {
	id, key, service             string
	priority, order, position    int
	job                          *twinJob
	needs                        []*twinTask
	rule                         string
	lane, pool                   string
	rank                         *int
	exclusive                    bool
	maxAttempts, timeout         int
	state, gate, hold            string
	runAt, until, deadline       int
	attempt, crashes, forgiven   int
	open                         []*twinTask // needs that have not ended
	broken, passes, asked, block bool
	approval                     string // the hold it was submitted with
	plan                         bool   // it has yet to be planned
	awaits                       []*twinTask
}

type twinJob struct {
	tasks    []*twinTask
	canceled bool   // somebody cancelled the job
	outcome  string // empty while it lives
}

func (x *twinTask) ended() bool {
	return x.state == "done" || x.state == "failed" || x.state == "canceled" || x.state == "skipped"
}

// fine says that what needs the task may go on.
func (x *twinTask) fine() bool { return x.state == "done" || x.passes }

// holds says that the task has its lane: it may start, runs, or waits for its
// pool with the lane in hand.
func (x *twinTask) holds() bool {
	return x.state == "available" || x.state == "running" || x.state == "pending" && x.gate == "pool"
}

// submit takes tasks in order. Needs refer to tasks of the same call.
func (w *twin) submit(now int, job *twinJob, tasks ...*twinTask) {
	for i, x := range tasks {
		if job == nil || i == 0 {
			w.order++
		}
		x.order, x.job, x.state = w.order, job, "pending"
		if job != nil {
			x.position = i + 1
			job.tasks = append(job.tasks, x)
		}
		w.tasks = append(w.tasks, x)
		x.open = slices.Clone(x.needs)
		if len(x.open) > 0 {
			x.gate = "needs"
		} else {
			w.advance(now, x)
		}
	}
}

// advance puts a task that passed its needs at the next closed gate.
func (w *twin) advance(now int, x *twinTask) {
	x.open = nil
	switch {
	case x.plan:
		x.gate = "plan"
	case x.runAt > now:
		x.gate = "time"
	case x.hold != "":
		x.gate = "hold"
	case x.lane != "":
		x.gate = "lane"
	case x.pool != "":
		x.gate = "pool"
	default:
		x.state, x.gate = "available", ""
	}
}

// openGates opens lanes, then pools, as far as they have room.
func (w *twin) openGates() {
	for _, lane := range w.keys(func(x *twinTask) string { return x.lane }) {
		for {
			head := w.best(func(x *twinTask) bool { return x.state == "pending" && x.gate == "lane" && x.lane == lane })
			if head == nil || w.blocked(head) {
				break
			}
			head.gate = "pool"
			if head.pool == "" {
				head.state, head.gate = "available", ""
			}
		}
	}
	for _, pool := range w.keys(func(x *twinTask) string { return x.pool }) {
		for {
			used := 0
			for _, x := range w.tasks {
				if x.pool == pool && (x.state == "available" || x.state == "running") {
					used++
				}
			}
			head := w.best(func(x *twinTask) bool { return x.state == "pending" && x.gate == "pool" && x.pool == pool })
			if head == nil || used >= w.sizes[pool] {
				break
			}
			head.state, head.gate = "available", ""
		}
	}
}

// blocked says that the head of a lane must wait.
func (w *twin) blocked(head *twinTask) bool {
	for _, o := range w.tasks {
		if o == head || o.lane != head.lane {
			continue
		}
		if o.holds() && (o.exclusive || head.exclusive) {
			return true
		}
		if head.rank != nil && o.rank != nil && *o.rank < *head.rank && (!o.ended() || o.block) {
			return true
		}
	}
	return false
}

func (w *twin) keys(of func(*twinTask) string) []string {
	var keys []string
	for _, x := range w.tasks {
		if k := of(x); k != "" && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// before is the global order; within a lane the rank comes first.
func before(a, b *twinTask) int {
	return cmp.Or(-cmp.Compare(a.priority, b.priority), cmp.Compare(a.order, b.order), cmp.Compare(a.position, b.position))
}

func (w *twin) best(fits func(*twinTask) bool) *twinTask {
	var best *twinTask
	for _, x := range w.tasks {
		if fits(x) && (best == nil || rankOf(x, best) < 0) {
			best = x
		}
	}
	return best
}

func rankOf(a, b *twinTask) int {
	if a.gate == "lane" {
		switch {
		case a.rank != nil && b.rank == nil:
			return -1
		case a.rank == nil && b.rank != nil:
			return 1
		case a.rank != nil && *a.rank != *b.rank:
			return cmp.Compare(*a.rank, *b.rank)
		}
	}
	return before(a, b)
}

// claim leases the first n tasks of the services.
func (w *twin) claim(now, n, lease int, services []string) []*twinTask {
	var free []*twinTask
	for _, x := range w.tasks {
		if x.state == "available" && slices.Contains(services, x.service) {
			free = append(free, x)
		}
	}
	slices.SortFunc(free, before)
	free = free[:min(n, len(free))]
	for _, x := range free {
		x.state, x.until, x.deadline = "running", now+lease, 0
		x.attempt++
		if x.timeout > 0 {
			x.deadline = now + x.timeout
		}
	}
	return free
}

// end makes tasks terminal, all at once, and lets their dependents go on or
// skips them.
func (w *twin) end(now int, state string, ended ...*twinTask) {
	for _, x := range ended {
		x.state, x.gate, x.hold, x.asked, x.open = state, "", "", false, nil
		x.block = state == "failed" && x.rank != nil
	}
	for _, x := range ended {
		w.settle(now, x)
	}
}

// settle tells the dependents of a task that it ended.
func (w *twin) settle(now int, x *twinTask) {
	if x.job == nil {
		return
	}
	for _, d := range x.job.tasks {
		i := slices.Index(d.open, x)
		if i < 0 {
			continue
		}
		d.open = slices.Delete(d.open, i, i+1)
		d.broken = d.broken || !x.fine()
		switch d.turn() {
		case "go":
			w.advance(now, d)
		case "skip":
			w.end(now, "skipped", d)
		}
	}
	x.job.close()
}

// close gives a job its outcome when its last task has ended.
func (j *twinJob) close() {
	count := map[string]int{}
	for _, x := range j.tasks {
		if !x.ended() {
			return
		}
		count[x.state]++
	}
	switch {
	case j.canceled && count["canceled"] > 0:
		j.outcome = "canceled"
	case count["failed"] > 0:
		j.outcome = "failed"
	case count["canceled"] > 0:
		j.outcome = "canceled"
	default:
		j.outcome = "done"
	}
}

// fail ends an attempt that failed.
func (w *twin) fail(now int, x *twinTask, final bool, retryAt int) {
	switch {
	case x.asked:
		w.end(now, "canceled", x)
	case final || x.attempt-x.forgiven-x.crashes >= x.maxAttempts:
		w.end(now, "failed", x)
	default:
		w.requeue(x, retryAt)
		if retryAt <= now {
			w.advance(now, x)
		}
	}
}

func (w *twin) requeue(x *twinTask, runAt int) {
	x.state, x.gate, x.runAt = "pending", "time", runAt
}

// giveBack returns a lease; until < 0: at once.
func (w *twin) giveBack(now int, x *twinTask, until int) {
	x.forgiven++
	switch {
	case x.asked:
		w.end(now, "canceled", x)
	case until < 0:
		x.state = "available"
	default:
		w.requeue(x, until)
	}
}

func (w *twin) cancel(now int, x *twinTask) {
	switch x.state {
	case "running":
		x.asked = true
	case "pending", "available":
		w.end(now, "canceled", x)
		w.endParts(now, "canceled", x)
	}
}

func (w *twin) cancelJob(now int, j *twinJob) {
	j.canceled = true
	var waiting []*twinTask
	for _, x := range j.tasks {
		switch x.state {
		case "running":
			x.asked = true
		case "pending", "available":
			waiting = append(waiting, x)
		}
	}
	w.end(now, "canceled", waiting...)
}

func (w *twin) holdBack(x *twinTask, who string) {
	x.hold = who
	if x.state == "available" || x.gate == "lane" || x.gate == "pool" {
		x.state, x.gate = "pending", "hold"
	}
}

func (w *twin) release(now int, x *twinTask) {
	x.hold = ""
	if x.gate == "hold" {
		w.advance(now, x)
	}
}

// tend ends leases that ran out and lets tasks go on whose time has come.
func (w *twin) tend(now int) {
	var failed, canceled []*twinTask
	for _, x := range w.tasks {
		if x.state != "running" || x.until >= now && (x.deadline == 0 || x.deadline >= now) {
			continue
		}
		switch late := x.deadline > 0 && x.deadline < now; {
		case x.asked:
			canceled = append(canceled, x)
		case late && x.attempt-x.forgiven-x.crashes >= x.maxAttempts:
			failed = append(failed, x)
		case late:
			w.requeue(x, now)
		default:
			if x.crashes++; x.crashes >= 3 {
				failed = append(failed, x)
			} else {
				x.state = "available"
			}
		}
	}
	w.endTogether(now, failed, canceled)
	for _, x := range w.tasks {
		if x.state == "pending" && x.gate == "time" && x.runAt <= now {
			w.advance(now, x)
		}
	}
}

// endTogether makes tasks terminal with different outcomes before anything that
// depends on them is settled.
func (w *twin) endTogether(now int, failed, canceled []*twinTask) {
	for _, x := range slices.Concat(failed, canceled) {
		x.state, x.gate, x.asked, x.open = "canceled", "", false, nil
	}
	for _, x := range failed {
		x.state, x.block = "failed", x.rank != nil
	}
	for _, x := range slices.Concat(failed, canceled) {
		w.settle(now, x)
	}
}
