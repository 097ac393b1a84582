package weir

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/refusal"
)

const (
	// missedLimit bounds how many missed runs are made up for: the newest ones.
	missedLimit = 1000
	// skipAfter is how late a run may be before [MissedSkip] leaves it out: a
	// change of who fires schedules is not a missed run.
	skipAfter = time.Minute
)

// Next is the first time after t that the schedule is due.
//
// When clocks are set forward, a run at a time of day that does not exist is due
// the moment after; when they are set back, it is due the first time only. A
// line with * in its minute or hour follows elapsed time instead.
func (s Schedule) Next(t time.Time) (time.Time, error) {
	table, err := s.timetable()
	if err != nil {
		return time.Time{}, err
	}
	return s.following(table, t)
}

// Due says which runs to submit now, if the next one was due at was, and when
// the one after is; zero: there is none. It is cheap however long ago that was.
func (s Schedule) Due(was, now time.Time) (runs []time.Time, next time.Time, err error) {
	table, err := s.timetable()
	if err != nil {
		return nil, time.Time{}, err
	}
	if was.After(now) {
		return nil, was, nil
	}
	limit := 1
	if s.Missed == MissedAll {
		limit = missedLimit
	}
	runs = table.latest(was, now, limit)
	last := runs[len(runs)-1]
	if s.Missed == MissedSkip && now.Sub(last) > skipAfter {
		runs = nil
	}
	for s.CatchUp > 0 && len(runs) > 0 && now.Sub(runs[0]) > max(s.CatchUp, skipAfter) {
		runs = runs[1:]
	}
	if _, once := table.(moment); once {
		return runs, time.Time{}, nil
	}
	next, err = s.following(table, last)
	return runs, next, err
}

// Upcoming are the next n times after t that the schedule is due. There are
// fewer if it ends before.
func (s Schedule) Upcoming(t time.Time, n int) ([]time.Time, error) {
	table, err := s.timetable()
	if err != nil {
		return nil, err
	}
	var runs []time.Time
	for len(runs) < n {
		if t = table.next(t); t.IsZero() {
			break
		}
		runs = append(runs, t)
	}
	return runs, nil
}

// Between are the times at which the schedule is due from from up to to, to not
// included, at most limit of them; more says that there are others.
func (s Schedule) Between(from, to time.Time, limit int) (runs []time.Time, more bool, err error) {
	table, err := s.timetable()
	if err != nil {
		return nil, false, err
	}
	for t := table.next(from.Add(-time.Nanosecond)); !t.IsZero() && t.Before(to); t = table.next(t) {
		if len(runs) == limit {
			return runs, true, nil
		}
		runs = append(runs, t)
	}
	return runs, false, nil
}

// First is the time of the first run of a schedule that is set now: that of a
// single run may be over, and is made up for as any other.
func (s Schedule) First(now time.Time) (time.Time, error) {
	table, err := s.timetable()
	if err != nil {
		return time.Time{}, err
	}
	if once, ok := table.(moment); ok {
		return time.Time(once), nil
	}
	return s.following(table, now)
}

func (s Schedule) following(table timetable, t time.Time) (time.Time, error) {
	next := table.next(t)
	if _, once := table.(moment); once && next.IsZero() {
		return next, refusal.New("spec", "%q is over", s.Spec)
	}
	if next.IsZero() {
		return next, refusal.New("spec", "%q names no time within five years", s.Spec)
	}
	return next, nil
}

// timetable is a parsed schedule. next is zero if there is none; latest are the
// newest runs from from to now, both included, of which from is one.
type timetable interface {
	next(after time.Time) time.Time
	latest(from, now time.Time, limit int) []time.Time
}

func (s Schedule) timetable() (timetable, error) {
	if s.Zone == "Local" {
		return nil, refusal.New("zone", "%q: name a place, such as Europe/Budapest: machines may stand in different ones", s.Zone)
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, refusal.New("zone", "%s", err)
	}
	spec := strings.TrimSpace(s.Spec)
	if text, ok := strings.CutPrefix(spec, "@every "); ok {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < time.Second {
			return nil, refusal.New("spec", "%q: @every wants a duration of at least 1s, such as 90s or 1h30m", s.Spec)
		}
		return pace(d.Truncate(time.Second)), nil
	}
	if text, ok := strings.CutPrefix(spec, "@at "); ok {
		at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
		if err != nil || at.Year() < 1970 {
			return nil, refusal.New("spec", "%q: @at wants a time with its zone, such as 2026-11-15T10:00:00Z", s.Spec)
		}
		return moment(at.UTC()), nil
	}
	line, err := parseCron(spec)
	if err != nil {
		return nil, err
	}
	return calendar{line, zone}, nil
}

// pace is @every: counted from run to run.
type pace time.Duration

func (p pace) next(after time.Time) time.Time { return after.Add(time.Duration(p)) }

func (p pace) latest(from, now time.Time, limit int) []time.Time {
	n := int(now.Sub(from) / time.Duration(p))
	var runs []time.Time
	for i := max(0, n-limit+1); i <= n; i++ {
		runs = append(runs, from.Add(time.Duration(i)*time.Duration(p)))
	}
	return runs
}

// moment is @at: once.
type moment time.Time

func (m moment) next(after time.Time) time.Time {
	if at := time.Time(m); at.After(after) {
		return at
	}
	return time.Time{}
}

func (m moment) latest(from, _ time.Time, _ int) []time.Time { return []time.Time{from} }

// calendar is a cron line in a time zone.
type calendar struct {
	line cron
	zone *time.Location
}

// next asks the line in wall time written as UTC, which has no gaps, and places
// the answer between the changes of the clocks.
func (c calendar) next(after time.Time) time.Time {
	at := after.In(c.zone)
	from := wall(at)
	if begin, _ := at.ZoneBounds(); c.line.fixed && !begin.IsZero() {
		// In an hour that comes twice we have been before.
		from = later(from, wall(begin.Add(-time.Nanosecond)))
	}
	w := c.line.next(from)
	for !w.IsZero() {
		_, end := at.ZoneBounds()
		t := w.Add(-offset(at))
		if end.IsZero() || t.Before(end) {
			return t
		}
		// The clocks change before that: from old to fresh.
		old, fresh := end.UTC().Add(offset(at)), wall(end)
		switch {
		case c.line.fixed && w.Before(fresh):
			return end.UTC() // the hour that was left out had it
		case c.line.fixed:
			fresh = later(fresh, old)
		}
		at = end
		w = c.line.next(fresh.Add(-time.Nanosecond))
	}
	return time.Time{}
}

// latest looks back from now in growing steps, so that a long pause costs
// nothing.
func (c calendar) latest(from, now time.Time, limit int) []time.Time {
	for back := time.Hour; ; back *= 4 {
		begin, runs := now.Add(-back), []time.Time(nil)
		whole := back <= 0 || !begin.After(from)
		if whole {
			begin, runs = from, []time.Time{from}
		}
		for t := c.next(begin); !t.IsZero() && !t.After(now); t = c.next(t) {
			runs = append(runs, t)
			if len(runs) > 4*limit { // keep little of much
				runs = slices.Clone(runs[len(runs)-limit:])
			}
		}
		if len(runs) >= limit || whole {
			return runs[max(0, len(runs)-limit):]
		}
	}
}

// wall is what a clock in the zone of t shows, written as UTC.
func wall(t time.Time) time.Time { return t.UTC().Add(offset(t)) }

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
