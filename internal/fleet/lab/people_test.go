package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir"
)

// job is what the lab knows of a job that it submitted.
type job struct {
	name string
	// least and most bound how long a run takes.
	least, most time.Duration
	// bad is set if the job fails wherever it runs.
	bad bool
	// attempts and infra are its budgets.
	attempts, infra int
	// roams is set if a retry after an infrastructure failure goes elsewhere, so the
	// device is not to blame.
	roams bool
}

const minute = time.Minute

// kind is a kind of job that people submit: its share, and the spec, in which a number
// may be random.
type kind struct {
	job
	spec  string
	share int
}

var kinds = []kind{
	{job{name: "all", least: 5 * minute, most: 18 * minute, attempts: 3, infra: 3}, `"target": {"all": true}, "repeat": 3`, 30},
	{job{name: "model", least: 4 * minute, most: 16 * minute, attempts: 2, infra: 3}, `"target": {"labels": {"model": "alpha-5"}}, "repeat": 4, "attempts": 2`, 15},
	{job{name: "night", least: 4 * minute, most: 18 * minute, attempts: 3, infra: 2}, `"target": {"tag": "night"}, "repeat": 3, "infra": {"attempts": 2}`, 15},
	{job{name: "any", least: 4 * minute, most: 14 * minute, attempts: 3, infra: 4, roams: true}, `"target": {"all": true}, "any": %d, "infra": {"attempts": 4, "place": "other_device"}`, 15},
	{job{name: "elsewhere", least: 4 * minute, most: 14 * minute, attempts: 3, infra: 3, roams: true}, `"target": {"all": true}, "any": %d, "infra": {"place": "other_pc"}`, 10},
	{job{name: "join", least: 4 * minute, most: 12 * minute, attempts: 3, infra: 3}, `"target": {"all": true}, "join": "running", "repeat": 2, "priority": 5`, 10},
	{job{name: "bad", least: 4 * minute, most: 8 * minute, attempts: 3, infra: 3, bad: true}, `"target": {"all": true}`, 5},
}

// people submit jobs, cancel some, repair devices and take them away.
func (l *lab) people() {
	many := func(d time.Duration) time.Duration { return d / time.Duration(len(l.devices)) }
	l.often(l.cancel, l.changesMind)
	l.often(many(l.maintain), l.maintains)
	l.often(many(l.retire), l.retires)
	l.feed()
	l.timetable()
	l.in(l.length/8, l.rounds)
	for part := 1; part < 4; part++ {
		l.in(l.length*time.Duration(part)/4, func() { l.rules(part) })
	}
}

// rules sets the policy for all. Each quarter of the day has another one.
func (l *lab) rules(part int) {
	health := `{"run": {"argv": ["health"]}, "timeout": "2m"}`
	change := []string{
		`{"policy": "strict", "health": null, "overlap": false, "slots": %d}`,
		`{"policy": "strict", "health": ` + health + `, "slots": %d}`,
		`{"policy": "evidence", "slots": %d}`,
		`{"policy": "evidence", "overlap": true, "slots": %d}`,
	}[part]
	l.exec(`select weir.set_fleet_policy($1, 'ann', at => $2)`, fmt.Sprintf(change, l.slots), l.time())
}

// feed keeps two jobs waiting, so that only devices limit what is done.
func (l *lab) feed() {
	if l.now >= l.length {
		return
	}
	for l.queued() < 2 {
		if l.story.jobs == 2 {
			l.submit(kinds[len(kinds)-1]) // a bad one always comes, and early
			continue
		}
		l.submit(l.kind())
	}
	l.in(time.Minute, l.feed)
}

func (l *lab) kind() kind {
	n := l.dice.IntN(100)
	for _, k := range kinds {
		if n -= k.share; n < 0 {
			return k
		}
	}
	return kinds[0]
}

func (l *lab) submit(k kind) {
	spec := k.spec
	if k.name == "any" || k.name == "elsewhere" {
		spec = fmt.Sprintf(spec, len(l.devices)+l.dice.IntN(len(l.devices)))
	}
	var id weir.ID
	l.scan(`select weir.fleet_submit($1, $2, 'ann', at => $3)`, []any{k.name, fmt.Sprintf(`{"run": {"argv": ["test"]}, "timeout": "%ds", %s}`, int(l.paced(20*minute).Seconds()), spec), l.time()}, &id)
	l.expect(id, k.job)
}

// expect records a submitted job.
func (l *lab) expect(id weir.ID, j job) {
	j.least, j.most = l.paced(j.least), l.paced(j.most)
	l.jobs[id] = &j
	l.story.jobs++
}

// paced returns how long something takes in this lab.
func (l *lab) paced(d time.Duration) time.Duration {
	if l.pace == 0 {
		return d
	}
	return time.Duration(float64(d) * l.pace)
}

// timetable is a schedule that submits a job on some devices every hour.
func (l *lab) timetable() {
	every := l.length / 12
	l.exec(`select weir.set_schedule('hourly', $1, $2, $3, overlap => 'skip', at => $4)`, fmt.Sprintf("@every %s", every),
		`{"service": "fleet", "params": {"name": "hourly", "run": {"argv": ["test"]}, "target": {"labels": {"model": "beta-1"}}}}`, l.time().Add(every), l.time())
	var fire func()
	fire = func() {
		if l.now >= l.length {
			return
		}
		for _, id := range all[struct{ ID weir.ID }](l.desk, `select unnest(weir.fire_schedule('hourly', x.next_at, array[x.next_at], x.next_at + $1::interval, at => $2)) from weir.schedules x where x.name = 'hourly'`, every, l.time()) {
			l.expect(id.ID, job{name: "hourly", least: minute, most: 6 * minute, attempts: 3, infra: 3})
		}
		l.in(every, fire)
	}
	l.in(every, fire)
}

// changesMind cancels a job.
func (l *lab) changesMind() {
	if list := l.alive(); len(list) > 0 {
		if id := list[l.dice.IntN(len(list))]; !l.jobs[id].bad { // a bad one should be stopped by the breaker
			l.cancels(id)
		}
	}
}

func (l *lab) cancels(id weir.ID) {
	l.exec(`select weir.fleet_cancel($1, 'ann', 'not needed', at => $2)`, id, l.time())
	l.story.cancels++
}

// close ends the day: waiting jobs are canceled, and the first one ends.
func (l *lab) close() {
	for i, id := range l.alive() {
		if i > 0 {
			l.cancels(id)
		}
	}
}

// maintains takes a device out and returns it, repaired.
func (l *lab) maintains() {
	d := l.anybody()
	if !l.command(`select weir.device_maintain($1, 'ann', 'a look at it', at => $2)`, d.Serial, l.time()) {
		return
	}
	l.story.maintained++
	l.meter.look(d.pc)
	l.in(l.between(10*minute, 40*minute), func() { l.releases(d) })
}

func (l *lab) releases(d *device) {
	if d.gone {
		return
	}
	d.broken = false
	l.command(`select weir.device_release($1, 'ann', 'mended', at => $2)`, d.Serial, l.time())
	l.meter.look(d.pc)
}

// retires removes a device and plugs in a new one.
func (l *lab) retires() {
	d := l.anybody()
	if !l.command(`select weir.device_retire($1, 'ann', 'too old', at => $2)`, d.Serial, l.time()) {
		return
	}
	l.story.retired++
	p, hub := d.pc, d.Hub
	l.in(l.between(time.Minute, 30*minute), func() {
		d.gone = true
		d.unplug()
		p.devices = slices.DeleteFunc(p.devices, func(x *device) bool { return x == d })
		l.device(p, hub)
		p.later(l.between(time.Millisecond, 5*time.Second), p.changed)
	})
}

// rounds makes a person release quarantined devices that do not come back by themselves.
func (l *lab) rounds() {
	for _, x := range all[struct{ Serial string }](l.desk, `select d.serial from weir.devices d where d.health = 'quarantined' and (d.check_at is null or (select f.health is null from weir.fleet_policy f)) order by d.serial`) {
		l.releases(l.devices[x.Serial])
		l.story.released++
	}
	if l.now < l.length {
		l.in(min(2*time.Hour, l.length/8), l.rounds)
	}
}

// lead runs the leader: every five seconds, and when the next task is due.
func (l *lab) lead() {
	l.tended++
	nth := l.tended
	changed, due := l.tend()
	if changed {
		l.meter.lookAll(l)
	}
	again := func() {
		if l.tended == nth {
			l.lead()
		}
	}
	l.in(5*time.Second, again)
	if due > 0 && due < 5*time.Second {
		l.in(due, again)
	}
}

// hint wakes all PCs that have room, as a notification does.
func (l *lab) hint() {
	for _, p := range l.pcs {
		p.ask(l.now)
	}
}
