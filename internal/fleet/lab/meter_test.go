package lab

import (
	"slices"
	"time"
)

// meterSQL computes what eligibility allows a PC at this moment, by rules of its own,
// because the meter must not use the code that it measures. idle are devices that are
// eligible and have work waiting; later are those whose retry is not due yet.
const meterSQL = `
create schema lab;
create function lab.allows(pcs text[], t timestamptz) returns table (pc text, runs int, idle int, later int, away boolean, paused boolean)
language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  checked boolean; overlap boolean; served uuid[];
begin
  select f.health is not null, f.overlap into checked, overlap from weir.fleet_policy f;
  served := array(select j.job from weir.fleet_jobs j where j.state = 'active' and j.stopped is null);
  if overlap then
    served := served || array(select j.job from weir.fleet_jobs j where j.state = 'waiting' order by j.priority desc, j.order_seq limit 1);
  end if;
  return query
  select n.name, count(*) filter (where d.busy)::int,
    count(*) filter (where not d.busy and d.here and (d.due or d.well and case when d.again is null then d.waits or d.open else d.again end))::int,
    count(*) filter (where not d.busy and d.here and not d.due and d.well and d.again is false)::int,
    n.seen_at < t - interval '45 s', coalesce(p.paused_until > t, false)
  from weir.nodes n join weir.pcs p on p.node = n.id, lateral (
    select exists (select from weir.running r where r.device = d.id) as busy, d.online and d.missing_at is null as here,
      d.health in ('good', 'suspect') or d.health = 'unknown' and not checked as well,
      checked and d.check_at <= t and d.health in ('unknown', 'suspect', 'quarantined') as due,
      (select bool_or(not exists (select from weir.pending w where w.task = u.task)) from weir.fleet_units u where u.device = d.id and u.state = 'retrying') as again,
      exists (select from weir.fleet_units u where u.device = d.id and u.job = any (served) and u.state = 'waiting') as waits,
      exists (select from weir.fleet_jobs j join weir.fleet_units u on u.job = j.job where j.job = any (served) and u.device is null and u.state in ('waiting', 'retrying')
        and d.id <> all (u.excluded) and (u.task is null or not exists (select from weir.pending w where w.task = u.task))
        and (j.spec -> 'target' -> 'labels' is null or d.labels @> (j.spec -> 'target' -> 'labels'))) as open
    from weir.devices d where d.node = n.id
  ) d where n.name = any (pcs) group by n.id, n.name, n.seen_at, p.paused_until order by n.name;
end $$;`

// meter integrates over time.
type meter struct {
	pcs map[*pc]*level
	// hours are the total, the allowed and the busy slot-time of each hour.
	hours        []sums
	idle, closed map[string]time.Duration
	last         time.Duration
	// stale are PCs whose state has changed.
	stale []*pc
}

type sums struct{ slots, allowed, busy time.Duration }

// level is the state of a PC since the last look.
type level struct {
	slots, allowed, busy, later int
	away, paused                bool
	// hungry is since when the PC is alive and gets less than it could.
	hungry time.Duration
}

func newMeter(length time.Duration) meter {
	return meter{pcs: map[*pc]*level{}, hours: make([]sums, (length+time.Hour-1)/time.Hour), idle: map[string]time.Duration{}, closed: map[string]time.Duration{}}
}

type allows struct {
	PC                string
	Runs, Idle, Later int
	Away, Paused      bool
}

// look marks a PC as changed.
func (m *meter) look(p *pc) {
	if !slices.Contains(m.stale, p) {
		m.stale = append(m.stale, p)
	}
}

func (m *meter) lookAll(l *lab) { m.stale = slices.Clone(l.pcs) }

// settle reads what those PCs may do now.
func (m *meter) settle(l *lab) {
	pcs := m.stale
	m.stale = nil
	if l.now >= l.length || len(pcs) == 0 {
		return
	}
	names, by := make([]string, len(pcs)), map[string]*pc{}
	for i, p := range pcs {
		names[i], by[p.name] = p.name, p
	}
	for _, x := range all[allows](l.desk, `select * from lab.allows($1, $2)`, names, l.time()) {
		m.set(l, by[x.PC], x)
	}
}

func (m *meter) set(l *lab, p *pc, x allows) {
	v := m.pcs[p]
	if v == nil {
		v = &level{}
		m.pcs[p] = v
	}
	v.slots, v.later, v.away, v.paused = p.slots, x.Later, x.Away, x.Paused
	v.allowed = x.Runs
	if !x.Away && !x.Paused {
		v.allowed = max(x.Runs, min(p.slots, x.Runs+x.Idle))
	}
	v.busy = 0
	for _, a := range p.held {
		if !a.over && p.up {
			v.busy++
		}
	}
	switch hungry := p.hears() && !x.Away && !x.Paused && x.Runs < v.allowed; {
	case !hungry:
		v.hungry = 0
	case v.hungry == 0:
		v.hungry = l.now
	}
}

// late counts the slot-time that a PC could have used since it was notified, and uses
// only now.
func (m *meter) late(p *pc, got int) {
	v := m.pcs[p]
	if v == nil || p.since == 0 || p.lab.now >= p.lab.length {
		return
	}
	if more := v.busy + got - v.allowed; more > 0 {
		lost := time.Duration(more) * (p.lab.now - p.since)
		m.hours[p.lab.now/time.Hour].allowed += lost
		m.idle[betweenWork] += lost
	}
}

// Reasons why slots that could be busy are not.
const (
	betweenWork = "between an end and the next claim"
	unnoticed   = "the PC is dead or cut off, and nobody knows yet"
)

// Reasons why slots could not be busy.
const (
	pcAway    = "the PC is away"
	pcPaused  = "the PC is paused after a dropout"
	retryWait = "the device waits for its next attempt"
	noWork    = "no idle device that is eligible has work"
)

// run integrates up to a time.
func (m *meter) run(l *lab, to time.Duration) {
	to = min(to, l.length)
	for m.last < to {
		hour := m.last / time.Hour
		end := min(to, (hour+1)*time.Hour)
		for p, v := range m.pcs {
			m.add(&m.hours[hour], p, v, end-m.last)
		}
		m.last = end
	}
}

func (m *meter) add(h *sums, p *pc, v *level, span time.Duration) {
	times := func(n int) time.Duration { return time.Duration(n) * span }
	h.slots += times(v.slots)
	h.allowed += times(v.allowed)
	h.busy += times(min(v.busy, v.allowed))
	if gap := v.allowed - v.busy; gap > 0 {
		why := betweenWork
		if !p.hears() {
			why = unnoticed
		}
		m.idle[why] += times(gap)
	}
	rest := v.slots - v.allowed
	switch {
	case rest <= 0:
	case v.away:
		m.closed[pcAway] += times(rest)
	case v.paused:
		m.closed[pcPaused] += times(rest)
	default:
		waits := min(rest, v.later)
		m.closed[retryWait] += times(waits)
		m.closed[noWork] += times(rest - waits)
	}
}

// starves records a fault if a live PC has room and devices with work, and gets nothing.
func (m *meter) starves(p *pc) {
	v := m.pcs[p]
	if v == nil || v.hungry == 0 || p.lab.now >= p.lab.length || p.lab.now-v.hungry < 2*p.lab.beat+10*time.Second {
		return
	}
	p.lab.fault("%s gets no work for %s, and could do %d more", p.name, (p.lab.now - v.hungry).Round(time.Second), v.allowed-v.busy)
	v.hungry = p.lab.now
}

// total returns the sums of the whole day.
func (m *meter) total() (s sums) {
	for _, h := range m.hours {
		s.slots += h.slots
		s.allowed += h.allowed
		s.busy += h.busy
	}
	return s
}

func (s sums) used() float64 {
	if s.allowed == 0 {
		return 1
	}
	return float64(s.busy) / float64(s.allowed)
}

func (m *meter) used() float64 { return m.total().used() }
