package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a small container has no time zones of its own

	"github.com/robfig/cron/v3"
)

const (
	// missedLimit bounds how many missed runs are made up for: the newest ones.
	missedLimit = 1000
	// skipAfter is how late a run may be before the policy skip leaves it out: a
	// change of leaders is not a missed run.
	skipAfter = time.Minute
)

// Missed says what to do about runs that nobody was there to start.
type Missed string

// The policies for missed runs.
const (
	Skip Missed = "skip" // leave them out
	One  Missed = "one"  // run once for all of them
	All  Missed = "all"  // run each, but no more than the newest 1,000
)

var errNever = errors.New("it never comes")

// Next is the first time after the given one that a schedule names. Spec is a
// cron line of five fields, @hourly and its like, or @every with a duration;
// zone is a name of the IANA database, empty for UTC.
//
// When clocks are set forward, a run at a time of day that does not exist is
// due the moment after; when they are set back, it is due the first time only.
// A line with * in its minute or hour, and @hourly, follow elapsed time instead.
func Next(spec, zone string, after time.Time) (time.Time, error) {
	s, err := parse(spec, zone)
	if err != nil {
		return time.Time{}, err
	}
	next := s.next(after)
	if next.IsZero() {
		return next, fmt.Errorf("schedule %q: %w", spec, errNever)
	}
	return next, nil
}

// Due says which runs of a schedule to submit now, if the next one was due at
// from, and when the one after is. It is cheap however long ago from is.
func Due(spec, zone string, from, now time.Time, missed Missed) (due []time.Time, next time.Time, err error) {
	s, err := parse(spec, zone)
	if err != nil {
		return nil, time.Time{}, err
	}
	if from.After(now) {
		return nil, from, nil
	}
	limit := 1
	if missed == All {
		limit = missedLimit
	}
	due = s.latest(from, now, limit)
	last := due[len(due)-1]
	if missed == Skip && now.Sub(last) > skipAfter {
		due = nil
	}
	if next = s.next(last); next.IsZero() {
		return due, next, fmt.Errorf("schedule %q: %w", spec, errNever)
	}
	return due, next, nil
}

// timetable is a parsed schedule. next is zero if there is none; latest are the
// newest runs from from to now, both included, of which from is one.
type timetable interface {
	next(after time.Time) time.Time
	latest(from, now time.Time, limit int) []time.Time
}

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

func parse(spec, zone string) (timetable, error) {
	spec = strings.TrimSpace(spec)
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		return nil, fmt.Errorf("schedule %q: the zone is a field of its own", spec)
	}
	if zone == "Local" {
		return nil, fmt.Errorf("zone %q: name a place, such as Europe/Budapest: servers may stand in different ones", zone)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("zone %q: %w", zone, err)
	}
	schedule, err := parser.Parse(spec)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", spec, err)
	}
	if delay, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return interval(delay.Delay), nil
	}
	lines := schedule.(*cron.SpecSchedule)
	lines.Location = time.UTC
	return calendar{lines, loc, fixed(spec)}, nil
}

// fixed reports whether a cron line names times of day, not a pace.
func fixed(spec string) bool {
	fields := strings.Fields(spec)
	if len(fields) < 2 {
		return spec != "@hourly"
	}
	return !strings.ContainsAny(fields[0]+fields[1], "*?")
}

// interval is @every: counted from run to run.
type interval time.Duration

func (d interval) next(after time.Time) time.Time { return after.Add(time.Duration(d)) }

func (d interval) latest(from, now time.Time, limit int) []time.Time {
	n := int(now.Sub(from) / time.Duration(d))
	var due []time.Time
	for i := max(0, n-limit+1); i <= n; i++ {
		due = append(due, from.Add(time.Duration(i)*time.Duration(d)))
	}
	return due
}

// calendar is a cron line in a time zone. The line itself is asked in wall time
// written as UTC, which has no gaps; here we place it between the changes of the
// clocks.
type calendar struct {
	line  *cron.SpecSchedule
	zone  *time.Location
	fixed bool
}

func (c calendar) next(after time.Time) time.Time {
	at := after.In(c.zone)
	from := wall(at)
	if begin, _ := at.ZoneBounds(); c.fixed && !begin.IsZero() {
		// In an hour that comes twice we have been before.
		from = later(from, wall(begin.Add(-time.Nanosecond)))
	}
	w := c.line.Next(from)
	for !w.IsZero() {
		_, end := at.ZoneBounds()
		t := w.Add(-offset(at))
		if end.IsZero() || t.Before(end) {
			return t
		}
		// The clocks change before that: from old to fresh.
		old, fresh := end.UTC().Add(offset(at)), wall(end)
		switch {
		case c.fixed && w.Before(fresh):
			return end.UTC() // the hour that was left out had it
		case c.fixed:
			fresh = later(fresh, old)
		}
		at = end
		w = c.line.Next(fresh.Add(-time.Nanosecond))
	}
	return time.Time{}
}

// latest looks back from now in growing steps, so that a long pause costs
// nothing.
func (c calendar) latest(from, now time.Time, limit int) []time.Time {
	for back := time.Hour; ; back *= 4 {
		begin, due := now.Add(-back), []time.Time(nil)
		if whole := back <= 0 || !begin.After(from); whole {
			begin, due = from, []time.Time{from}
		}
		begun := begin
		for t := c.next(begin); !t.IsZero() && !t.After(now); t = c.next(t) {
			due = append(due, t)
			if len(due) > 4*limit { // keep little of much
				due = slices.Clone(due[len(due)-limit:])
			}
		}
		if len(due) >= limit || begun.Equal(from) {
			return due[max(0, len(due)-limit):]
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
