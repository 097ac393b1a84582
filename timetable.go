package weir

import (
	"fmt"
	"strings"
	"time"
)

const (
	// missedLimit bounds how many missed runs are made up for: the newest ones.
	missedLimit = 1000
	// skipAfter is how late a run may be before [MissedSkip] leaves it out.
	skipAfter = time.Minute
)

// Next is the first time after t that the schedule is due.
//
// When clocks are set forward, a run at a time of day that does not exist is due
// the moment after; when they are set back, it is due the first time only. A
// line with * in its minute or hour follows elapsed time instead.
func (s Schedule) Next(t time.Time) (time.Time, error) {
	every, err := s.every()
	if every > 0 || err != nil {
		return t.Add(every), err
	}
	line, err := parseCron(s.Spec)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec: %w", err)
	}
	if s.Zone == "Local" {
		return time.Time{}, fmt.Errorf("zone: %q: name a place, such as Europe/Budapest: machines may stand in different ones", s.Zone)
	}
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return time.Time{}, fmt.Errorf("zone: %w", err)
	}
	next := line.place(t.In(zone))
	if next.IsZero() {
		return time.Time{}, fmt.Errorf("spec: %q names no time within five years", s.Spec)
	}
	return next, nil
}

// every is the interval of an @every, or zero.
func (s Schedule) every() (time.Duration, error) {
	text, ok := strings.CutPrefix(s.Spec, "@every ")
	if !ok {
		return 0, nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("spec: %q: @every wants a duration of at least 1s, such as 90s or 1h30m", s.Spec)
	}
	return d.Truncate(time.Second), nil
}

// Due says which runs to submit now, if the next one was due at was, and when
// the one after is.
func (s Schedule) Due(was, now time.Time) (runs []time.Time, next time.Time, err error) {
	next = was
	if every, _ := s.every(); every > 0 { // one year of seconds is not walked through
		if skip := now.Sub(was)/every - missedLimit; skip > 0 {
			next = was.Add(skip * every)
		}
	}
	for !next.After(now) {
		if runs = append(runs, next); len(runs) > 2*missedLimit {
			runs = append([]time.Time(nil), runs[len(runs)-missedLimit:]...)
		}
		if next, err = s.Next(next); err != nil {
			return nil, time.Time{}, err
		}
	}
	last := len(runs) - 1
	switch {
	case last < 0:
		return nil, next, nil
	case s.Missed == MissedAll:
		return runs[max(0, len(runs)-missedLimit):], next, nil
	case s.Missed == MissedSkip && now.Sub(runs[last]) > skipAfter:
		return nil, next, nil
	}
	return runs[last:], next, nil
}

// place is next in the zone of at. The line is asked in wall time written as
// UTC, which has no gaps, and placed between the changes of the clocks.
func (c cron) place(at time.Time) time.Time {
	from := wall(at)
	if begin, _ := at.ZoneBounds(); c.fixed && !begin.IsZero() {
		// In an hour that comes twice we have been before.
		from = later(from, wall(begin.Add(-time.Nanosecond)))
	}
	w := c.next(from)
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
		w = c.next(fresh.Add(-time.Nanosecond))
	}
	return time.Time{}
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
