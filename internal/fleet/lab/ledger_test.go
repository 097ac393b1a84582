package lab

import (
	"strings"

	"github.com/weirhq/weir"
)

// ledger is what the lab did to each task.
type ledger map[weir.ID]*deeds

// deeds are what happened to a task, as the lab saw it.
type deeds struct {
	job *weir.ID
	// on is the serial of the device of each attempt, by its number.
	on map[int]string
	// last is the newest attempt that was given out.
	last int
	// fails and timeouts spend attempts of the test, infra those of the infrastructure.
	fails, timeouts, infra int
	// forgiven counts attempts that a lost hub or PC ended: they spend nothing.
	forgiven int
	// unsure counts attempts that a PC lost while it was not heard: the lab cannot know
	// how the database judged them.
	unsure   int
	done     bool
	canceled bool
}

func (g ledger) of(a *attempt) *deeds {
	d := g[a.Task]
	if d == nil {
		d = &deeds{job: a.Job, on: map[int]string{}}
		g[a.Task] = d
	}
	return d
}

// began records that an attempt was given out.
func (g ledger) began(l *lab, a *attempt) {
	d := g.of(a)
	switch {
	case d.done || d.canceled:
		l.fault("task %s has ended, and attempt %d was given out", a.Task, a.Attempt)
	case a.Attempt != d.last+1:
		l.fault("task %s: attempt %d came after %d", a.Task, a.Attempt, d.last)
	}
	d.last, d.on[a.Attempt] = a.Attempt, a.Serial
}

// ended records an answer. An accepted end belongs to the newest attempt and is the only
// one; a refused end belongs to a lease that no longer exists.
func (g ledger) ended(l *lab, a *attempt, how fate, said string) {
	d := g.of(a)
	if said != "ok" {
		if l.holds(a) {
			l.fault("the end of attempt %d of %s was refused (%s), and it holds the lease", a.Attempt, a.Task, said)
		}
		return
	}
	if d.done || d.canceled || a.Attempt != d.last {
		l.fault("the end of attempt %d of %s was taken, the newest is %d", a.Attempt, a.Task, d.last)
	}
	switch how {
	case succeeds:
		d.done = true
	case fails:
		d.fails++
	case hangs:
		d.timeouts++
	case breaks:
		d.infra++
	case canceled:
		d.canceled = true
	}
}

// spent reports whether a task had used up its budget when it failed permanently.
func (d *deeds) spent(j *job, cause string) bool {
	own := d.fails + d.timeouts
	switch {
	case strings.HasPrefix(cause, "the infrastructure broke it"):
		return d.infra <= j.infra && d.infra+d.unsure >= j.infra
	case strings.HasPrefix(cause, "poison: "):
		return d.unsure >= 3
	}
	return own <= j.attempts && own+d.unsure >= j.attempts
}

// blames reports whether a permanently failed task counts against its device.
func (d *deeds) blames(j *job) bool {
	return d.fails+d.timeouts+d.unsure >= j.attempts || !j.roams && d.infra+d.unsure >= j.infra
}
