package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// moment is a time as templates and expressions see it: it has a zone, so that its days
// are those of a place. Wherever text is wanted it is RFC 3339 with the offset of that
// zone.
type moment struct {
	time.Time
	// floating is set for a text without a zone, such as 2026-07-10: inZone says where
	// it is that day, and does not convert it.
	floating bool
}

func (m moment) String() string { return m.Format(time.RFC3339) }

// MarshalJSON writes the moment as text.
func (m moment) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// plain returns the text of a moment, and every other value as it is.
func plain(v any) any {
	if m, ok := v.(moment); ok {
		return m.String()
	}
	return v
}

// plainAll is plain for the arguments of functions that know no times.
func plainAll(args []any) []any {
	for i := range args {
		args[i] = plain(args[i])
	}
	return args
}

// floatingForms are the texts without a zone that count as times.
var floatingForms = []string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04"}

// toMoment reads a moment from a value: one, or its text.
func toMoment(v any) (moment, error) {
	switch v := v.(type) {
	case moment:
		return v, nil
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			return moment{Time: t}, nil
		}
		for _, form := range floatingForms {
			if t, err := time.Parse(form, v); err == nil {
				return moment{Time: t, floating: true}, nil
			}
		}
		return moment{}, fmt.Errorf("%q is no time such as 2026-11-15T10:00:00Z or 2026-11-15", clip(v))
	default:
		return moment{}, fmt.Errorf("wants a time, got %s", word(v))
	}
}

// zoneNamed reads a time zone. The machine's own is refused, because servers may stand in
// different ones.
func zoneNamed(v any) (*time.Location, error) {
	name, ok := plain(v).(string)
	if !ok {
		return nil, fmt.Errorf("wants a zone such as Europe/Budapest, got %s", word(v))
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || name == "" {
		return nil, fmt.Errorf("%q is no zone such as Europe/Budapest", clip(name))
	}
	return zone, nil
}

// at returns the moment with these parts in the zone of m. A time of day that clocks skip
// is the moment at which they were set forward, as for a schedule.
func (m moment) at(year int, month time.Month, day, hour, minute, second int) moment {
	zone := m.Location()
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	want := time.Date(year, month, day, hour, minute, second, 0, time.UTC)
	is := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	switch begin, end := t.ZoneBounds(); {
	case is.Before(want) && !end.IsZero():
		t = end
	case is.After(want) && !begin.IsZero():
		t = begin
	}
	return moment{Time: t.In(zone), floating: m.floating}
}

// inZone returns the same instant as it is called in a zone.
func inZone(_ *budget, args []any) (any, error) {
	zone, err := zoneNamed(args[0])
	if err != nil {
		return nil, err
	}
	m, err := toMoment(args[1])
	if err != nil {
		return nil, err
	}
	if m.floating {
		there := moment{Time: m.In(zone)}
		return there.at(m.Year(), m.Month(), m.Day(), m.Hour(), m.Minute(), m.Second()), nil
	}
	return moment{Time: m.In(zone)}, nil
}

// momentFunctions are those of templates and of expressions. Templates pipe the time into
// them, expressions give it first.
var momentFunctions = []struct {
	name, template, expression string
	least, most                int
	call                       func(*budget, []any) (any, error)
}{
	{"date", `date "2006-01-02"`, `date(job.scheduled_at, "2006-01-02")`, 2, 3, date},
	{"inZone", `inZone "Europe/Budapest"`, `inZone(job.scheduled_at, "Europe/Budapest")`, 2, 2, inZone},
	{"addMinutes", `addMinutes -30`, `addMinutes(job.scheduled_at, -30)`, 2, 2, onMoment(addElapsed(time.Minute))},
	{"addHours", `addHours 2`, `addHours(job.scheduled_at, 2)`, 2, 2, onMoment(addElapsed(time.Hour))},
	{"addDays", `addDays -1`, `addDays(job.scheduled_at, -1)`, 2, 2, onMoment(addDays)},
	{"addMonths", `addMonths 1`, `addMonths(job.scheduled_at, 1)`, 2, 2, onMoment(addMonths)},
	{"startOfDay", `startOfDay`, `startOfDay(job.scheduled_at)`, 1, 1, startOf(thisDay)},
	{"startOfWeek", `startOfWeek`, `startOfWeek(job.scheduled_at)`, 1, 1, startOf(thisWeek)},
	{"startOfMonth", `startOfMonth`, `startOfMonth(job.scheduled_at)`, 1, 1, startOf(thisMonth)},
	{"startOfYear", `startOfYear`, `startOfYear(job.scheduled_at)`, 1, 1, startOf(thisYear)},
}

// maxShift bounds how far a moment is moved, in any unit.
const maxShift = 1_000_000

// onMoment makes a function of a whole number and a moment.
func onMoment(f func(m moment, n int) moment) func(*budget, []any) (any, error) {
	return func(_ *budget, args []any) (any, error) {
		n, ok := args[0].(int64)
		if !ok {
			return nil, fmt.Errorf("wants a whole number, got %s", word(args[0]))
		}
		m, err := toMoment(args[1])
		if err != nil {
			return nil, err
		}
		if n > maxShift || n < -maxShift {
			return nil, fmt.Errorf("%d is outside -1000000 to 1000000", n)
		}
		return written(f(m, int(n)))
	}
}

// written refuses a moment that RFC 3339 cannot write.
func written(m moment) (any, error) {
	if y := m.Year(); y < 1 || y > 9999 {
		return nil, errors.New("the year is outside 1 to 9999")
	}
	return m, nil
}

func addDays(m moment, n int) moment {
	return m.at(m.Year(), m.Month(), m.Day()+n, m.Hour(), m.Minute(), m.Second())
}

// addMonths keeps the day, or takes the last one of a month that is shorter.
func addMonths(m moment, n int) moment {
	last := time.Date(m.Year(), m.Month()+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC)
	return m.at(last.Year(), last.Month(), min(m.Day(), last.Day()), m.Hour(), m.Minute(), m.Second())
}

// addElapsed moves a moment by time that passes, whatever the clocks do meanwhile.
func addElapsed(unit time.Duration) func(moment, int) moment {
	return func(m moment, n int) moment { return moment{m.Add(time.Duration(n) * unit), m.floating} }
}

// startOf makes a function that goes back to the begin of a day, week, month or year.
func startOf(f func(m moment) (year int, month time.Month, day int)) func(*budget, []any) (any, error) {
	return func(_ *budget, args []any) (any, error) {
		m, err := toMoment(args[0])
		if err != nil {
			return nil, err
		}
		year, month, day := f(m)
		return written(m.at(year, month, day, 0, 0, 0))
	}
}

func thisDay(m moment) (int, time.Month, int) { return m.Date() }

func thisWeek(m moment) (int, time.Month, int) {
	return m.Year(), m.Month(), m.Day() - (int(m.Weekday())+6)%7 // of the Monday
}

func thisMonth(m moment) (int, time.Month, int) { return m.Year(), m.Month(), 1 }

func thisYear(m moment) (int, time.Month, int) { return m.Year(), time.January, 1 }

// date formats a time with a layout of Go, in its own zone or in the one that is given.
func date(b *budget, args []any) (any, error) {
	layout, ok := plain(args[0]).(string)
	if !ok {
		return nil, fmt.Errorf("wants a layout such as 2006-01-02, got %s", word(args[0]))
	}
	of := args[len(args)-1]
	if len(args) == 3 {
		moved, err := inZone(b, args[1:])
		if err != nil {
			return nil, err
		}
		of = moved
	}
	m, err := toMoment(of)
	if err != nil {
		return nil, err
	}
	out := m.Format(layout)
	return out, b.text(len(out))
}

// compareMoments orders two values of which one is a moment. A text that is no time is
// compared as text.
func compareMoments(x, y any) (int, bool) {
	_, first := x.(moment)
	_, second := y.(moment)
	if !first && !second {
		return 0, false
	}
	m, err1 := toMoment(x)
	n, err2 := toMoment(y)
	if err1 != nil || err2 != nil {
		return 0, false
	}
	if n.floating != m.floating { // a day without a zone is a day of the other's
		if n.floating {
			n = m.at(n.Year(), n.Month(), n.Day(), n.Hour(), n.Minute(), n.Second())
		} else {
			m = n.at(m.Year(), m.Month(), m.Day(), m.Hour(), m.Minute(), m.Second())
		}
	}
	return m.Compare(n.Time), true
}
