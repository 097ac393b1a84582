package lab

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// watch checks the invariants all day long: the cheap ones each minute, the doctor each
// half hour.
func (l *lab) watch() {
	l.meter.lookAll(l)
	l.glance()
	for _, p := range l.pcs {
		l.meter.starves(p)
	}
	if l.now-l.story.examined >= 30*time.Minute {
		l.story.examined = l.now
		l.examine(false)
		l.Logf("%s: %d attempts, %.2f %% used, %d faults; active: %s", l.clock(), l.story.attempts, 100*l.meter.used(), len(l.faults), l.active())
	}
	l.over = l.now >= l.length && l.unfinished() == 0
	l.in(time.Minute, l.watch)
}

// glance checks what must hold at every moment, independently of the doctor.
func (l *lab) glance() {
	var active, twice, over int
	l.scan(`select (select count(*) from weir.fleet_jobs where state = 'active'),
		(select count(*) from (select from weir.running where device is not null group by device having count(*) > 1) x),
		(select count(*) from (select r.node from weir.running r join weir.pcs p on p.node = r.node where r.device is not null group by r.node having count(*) > $1) x)`, []any{l.slots}, &active, &twice, &over)
	if active > 1 || twice > 0 || over > 0 {
		l.fault("%d jobs are active, %d devices run two things, %d PCs run more than %d", active, twice, over, l.slots)
	}
}

// examine runs the doctor. Its findings about the machine do not matter here.
func (l *lab) examine(deep bool) {
	for _, x := range all[struct{ Name, Detail string }](l.desk, `select name, coalesce(detail, '') from weir.doctor(deep => $1, at => $2) where not ok
		and (level = 'invariant' or name in ('a fleet job that could be active is', 'leases that ran out are ended in time', 'tasks start when they are due'))`, deep, l.time()) {
		l.fault("doctor: %s: %s", x.Name, x.Detail)
	}
	l.story.doctors++
}

// --- questions

func (l *lab) paused(p *pc) (yes bool) {
	l.scan(`select coalesce(p.paused_until > $2, false) from weir.nodes n join weir.pcs p on p.node = n.id where n.name = $1`, []any{p.name, l.time()}, &yes)
	return yes
}

// pauses returns how often a PC was paused within the last hour.
func (l *lab) pauses(p *pc) (n int) {
	l.scan(`select count(*) from weir.events where kind = 'pc' and type = 'paused' and subject = $1 and at > $2`, []any{p.name, l.time().Add(-time.Hour)}, &n)
	return n
}

// online returns how many devices of a hub Weir sees.
func (l *lab) online(p *pc, hub string) (n int) {
	l.scan(`select count(*) from weir.devices d join weir.nodes n on n.id = d.node where n.name = $1 and d.hub = $2 and d.online and d.missing_at is null`, []any{p.name, hub}, &n)
	return n
}

// health returns the health of devices, to compare with another time.
func (l *lab) health(devices []*device) (text string) {
	l.scan(`select coalesce(string_agg(d.serial || ' ' || d.health, ', ' order by d.serial), '') from weir.devices d where d.serial = any ($1)`, []any{serials(devices)}, &text)
	return text
}

// budget is what a unit has spent.
type budget struct {
	Job                weir.ID
	Unit, Infra, Spent int
}

// on returns the tasks that devices work on.
func (l *lab) on(devices []*device) (tasks []weir.ID) {
	l.scan(`select coalesce(array_agg(u.task), '{}') from weir.devices d join weir.fleet_units u on u.device = d.id where d.serial = any ($1) and u.state in ('running', 'retrying')`,
		[]any{serials(devices)}, &tasks)
	return tasks
}

// budgets returns the budgets of live units by their tasks, wherever they are now.
func (l *lab) budgets(tasks []weir.ID) map[weir.ID]budget {
	list := all[struct {
		Task weir.ID
		budget
	}](l.desk, `select u.task, u.job, u.unit, u.infra, s.attempt - (s.runs)::int - coalesce((select f.returns + f.crashes from weir.forgiven f where f.task = u.task), 0) as spent
		from weir.fleet_units u, lateral (
			select r.attempt, true as runs from weir.running r where r.task = u.task union all select p.attempt, false from weir.pending p where p.task = u.task
			union all select a.attempt, false from weir.tasks q join weir.available a on a.class in (q.class, -q.class) and a.order_seq = q.order_seq and a.position = q.position where q.id = u.task
		) s
		where u.task = any ($1)`, tasks)
	found := map[weir.ID]budget{}
	for _, x := range list {
		found[x.Task] = x.budget
	}
	return found
}

func serials(devices []*device) []string {
	list := make([]string, len(devices))
	for i, d := range devices {
		list[i] = d.Serial
	}
	return list
}

// holds reports whether the lease of an attempt exists.
func (l *lab) holds(a *attempt) (yes bool) {
	l.scan(`select exists (select from weir.running r where r.task = $1 and r.attempt = $2 and r.token = $3)`, []any{a.Task, a.Attempt, a.Token}, &yes)
	return yes
}

func (l *lab) queued() (n int) {
	l.scan(`select count(*) from weir.fleet_jobs where state = 'waiting'`, nil, &n)
	return n
}

func (l *lab) unfinished() (n int) {
	l.scan(`select count(*) from weir.fleet_jobs where state <> 'ended'`, nil, &n)
	return n
}

// alive returns the jobs that have not ended, the active one first.
func (l *lab) alive() (ids []weir.ID) {
	for _, x := range all[struct{ ID weir.ID }](l.desk, `select job from weir.fleet_jobs where state <> 'ended' order by state, order_seq`) {
		ids = append(ids, x.ID)
	}
	return ids
}

// active returns which job is active, and how far it is.
func (l *lab) active() (text string) {
	l.scan(`select coalesce((select format('%s for %s, %s', q.name, date_trunc('second', $1 - j.activated_at), (select string_agg(x.n || ' ' || x.state, ', ' order by x.state) from
		(select u.state, count(*) as n from weir.fleet_units u where u.job = j.job group by u.state) x)) from weir.fleet_jobs j join weir.jobs q on q.id = j.job where j.state = 'active'), 'none')`, []any{l.time()}, &text)
	return text
}

// whyNot returns what Weir says about live jobs.
func (l *lab) whyNot() string {
	var b strings.Builder
	for _, x := range all[struct{ Why string }](l.desk, `select concat_ws(' ', w.device, w.pc, w.why) from weir.fleet_jobs j, lateral weir.fleet_why(j.job, 20, at => $1) w where j.state <> 'ended'`, l.time()) {
		fmt.Fprintln(&b, x.Why)
	}
	return b.String()
}
