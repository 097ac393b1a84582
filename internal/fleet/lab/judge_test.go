package lab

import (
	"strings"

	"github.com/weirhq/weir"
)

// judge checks the day and prints the report.
func (l *lab) judge() {
	l.Helper()
	l.units()
	l.quarantines()
	l.badJobs()
	l.examine(true)
	l.Logf("\n%s", l.account())
	if used := l.meter.used(); used < 0.95 {
		l.fault("utilisation is %.1f %% of what eligibility allows, wanted 95", 100*used)
	}
	if s, open := &l.story, l.open(); s.attempts != s.ended()+open {
		l.fault("%d attempts began, %d ended, %d are open", s.attempts, s.ended(), open)
	}
	for what, n := range map[string]int{
		"PCs that died": l.story.deaths, "PCs that were cut off": l.story.cuts, "lost hubs": l.story.hubs, "attempts that a lost hub took": l.story.forgiven, "absences": l.story.flaps,
		"timeouts": l.story.timeouts + l.story.ends[hangs], "late reports": l.story.refused, "devices put out": l.story.quarantined, "devices healed": l.story.healed,
		"jobs stopped as bad": l.story.stopped, "canceled jobs": l.story.cancels,
	} {
		if n == 0 {
			l.fault("it proves nothing about %s: there were none", what)
		}
	}
}

// open returns how many attempts the PCs hold when the day is over, which is when all jobs
// have ended: health tasks, which belong to no job, and attempts that the database has
// ended and whose PC has not heard of it yet.
func (l *lab) open() (n int) {
	for _, p := range l.pcs {
		for _, a := range p.list() {
			if n++; a.Job != nil && l.holds(a) {
				l.fault("%s still holds attempt %d of %s, and all jobs have ended", p.name, a.Attempt, a.Task)
			}
		}
	}
	return n
}

// unit is an ended unit in the database.
type unit struct {
	Job   weir.ID
	State string
	Task  *weir.ID
	Cause string
}

// units checks that every unit has ended as the ledger says.
func (l *lab) units() {
	for _, u := range all[unit](l.desk, `select job, state, task, coalesce(cause, '') from weir.fleet_units order by job, unit`) {
		l.story.units[u.State]++
		if u.Task == nil {
			if u.State != "missed" && u.State != "canceled" {
				l.fault("a unit without a task is %s", u.State)
			}
			continue
		}
		d, j := l.ledger[*u.Task], l.jobs[u.Job]
		switch {
		case u.State == "running" || u.State == "retrying" || u.State == "waiting":
			l.fault("a unit of %s never ended: task %s is %s", j.name, *u.Task, u.State)
		case (u.State == "done") != d.done:
			l.fault("task %s is %s, the lab says %+v", *u.Task, u.State, *d)
		case u.State == "failed" && !d.spent(j, u.Cause):
			l.fault("task %s of %s failed (%s) with something left: %+v", *u.Task, j.name, u.Cause, *d)
		}
	}
}

// put is one time that a device was quarantined or suspected.
type put struct {
	Serial, Health, By, Message string
	Evidence                    []weir.ID
}

// quarantines checks that every device that a job or a health task put out had failed
// there because of what the lab did, and not because something was lost.
func (l *lab) quarantines() {
	l.Helper()
	for _, q := range all[put](l.desk, `select e.subject, e.type, coalesce(e.source, ''), e.message, array(select jsonb_array_elements_text(e.data -> 'evidence')::uuid)
		from weir.events e where e.kind = 'device' and e.type in ('suspect', 'quarantined', 'good') order by e.seq`) {
		switch {
		case q.Health == "good":
			if strings.HasPrefix(q.Message, "its health task") {
				l.story.healed++
			} else if strings.HasPrefix(q.Message, "restored") {
				l.story.restored++
			}
			continue
		case q.Health == "suspect":
			l.story.suspected++
		default:
			l.story.quarantined++
		}
		if q.Health == "suspect" && len(q.Evidence) == 0 && l.devices[q.Serial].losses >= 5 {
			continue // its cable is bad
		}
		if len(q.Evidence) == 0 {
			l.fault("%s is %s without evidence: %s", q.Serial, q.Health, q.Message)
			continue
		}
		task := q.Evidence[len(q.Evidence)-1]
		d := l.ledger[task]
		switch {
		case d == nil || d.on[d.last] != q.Serial:
			l.fault("%s is %s for task %s, which was not on it", q.Serial, q.Health, task)
		case d.job == nil && d.fails+d.timeouts+d.unsure == 0:
			l.fault("%s is %s for a health task that did not fail", q.Serial, q.Health)
		case d.job != nil && !d.blames(l.jobs[*d.job]):
			l.fault("%s is %s for task %s, which does not speak against it: %+v", q.Serial, q.Health, task, *d)
		}
	}
}

// badJobs checks that a job that fails wherever it runs is stopped, and that no device is
// blamed.
func (l *lab) badJobs() {
	l.Helper()
	type row struct {
		Job      weir.ID
		Stopped  bool
		Failed   int
		Punished int
	}
	for _, x := range all[row](l.desk, `select j.job, j.stopped is not null, (select count(distinct u.device) from weir.fleet_units u where u.job = j.job and u.state = 'failed' and u.good),
		(select count(*) from weir.devices d where d.health_job = j.job and d.health in ('suspect', 'quarantined')) from weir.fleet_jobs j order by j.order_seq`) {
		j := l.jobs[x.Job]
		if x.Stopped {
			l.story.stopped++
			if x.Punished > 0 {
				l.fault("job %s was stopped as bad, and %d devices are out for it", j.name, x.Punished)
			}
			if !j.bad {
				l.fault("job %s was stopped as bad", j.name)
			}
		} else if j.bad && x.Failed >= 5 {
			l.fault("a bad job failed on %d good devices, and was not stopped", x.Failed)
		}
	}
}
