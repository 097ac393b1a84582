package weir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/refusal"
)

// cron is a parsed line of five fields. Each field is a set of bits.
type cron struct {
	minute, hour, day, month, weekday uint64
	// anyDay: the day or the weekday is free, so both must match. Else one of
	// them is enough, as cron has it.
	anyDay bool
	// fixed: the line names times of day, not a pace.
	fixed bool
}

type field struct {
	name  string
	least int
	most  int
	names string
}

var fields = []field{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of the month", 1, 31, ""},
	{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{"day of the week", 0, 7, "sun mon tue wed thu fri sat"},
}

var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

func parseCron(line string) (cron, error) {
	if full, ok := nicknames[line]; ok {
		line = full
	}
	parts := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, "TZ="), strings.HasPrefix(line, "CRON_TZ="):
		return cron{}, refusal.New("spec", "%q: the zone is a field of its own", line)
	case strings.HasPrefix(line, "@"):
		return cron{}, refusal.New("spec", "%q: there are @hourly, @daily, @weekly, @monthly, @yearly, @every with a duration, and @at with a time", line)
	case len(parts) != len(fields):
		return cron{}, refusal.New("spec", "%q: a cron line has five fields: minute, hour, day, month, weekday", line)
	}
	var bits [5]uint64
	for i, f := range fields {
		var err error
		if bits[i], err = f.parse(parts[i]); err != nil {
			return cron{}, refusal.New("spec", "%q: %s: %s", line, f.name, err)
		}
	}
	if bits[4]&(1<<7) != 0 { // 7 is Sunday too
		bits[4] |= 1
	}
	free := func(list string) bool {
		return slices.ContainsFunc(strings.Split(list, ","), func(s string) bool {
			span, step, _ := strings.Cut(s, "/")
			return (span == "*" || span == "?") && (step == "" || step == "1")
		})
	}
	fixed := !strings.ContainsAny(parts[0]+parts[1], "*?")
	return cron{bits[0], bits[1], bits[2], bits[3], bits[4], free(parts[2]) || free(parts[4]), fixed}, nil
}

// parse reads a list such as 1,5-9,20/2.
func (f field) parse(list string) (bits uint64, err error) {
	for part := range strings.SplitSeq(list, ",") {
		span, step, stepped := strings.Cut(part, "/")
		first, last, isRange := strings.Cut(span, "-")
		low, high, every := f.least, f.most, 1
		if f.least == 0 && f.most == 7 {
			high = 6
		}
		if span != "*" && span != "?" {
			if low, err = f.number(first); err != nil {
				return 0, err
			}
			switch {
			case isRange:
				if high, err = f.number(last); err != nil {
					return 0, err
				}
			case !stepped:
				high = low
			}
		}
		if stepped {
			if every, err = strconv.Atoi(step); err != nil || every < 1 {
				return 0, fmt.Errorf("%q is no step", step)
			}
			every = min(every, f.most+1) // a longer one leads out of the field all the same
		}
		if low > high {
			return 0, fmt.Errorf("%q ends before it begins", part)
		}
		for n := low; n <= high; n += every {
			bits |= 1 << n
		}
	}
	return bits, nil
}

func (f field) number(s string) (int, error) {
	for i, name := range strings.Fields(f.names) {
		if strings.EqualFold(s, name) {
			return i + f.least, nil
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < f.least || n > f.most {
		return 0, fmt.Errorf("%q is not between %d and %d", s, f.least, f.most)
	}
	return n, nil
}

// next is the first time after t that the line names, on a clock that is never
// changed (UTC); zero if there is none within five years (31 February).
func (c cron) next(t time.Time) time.Time {
	t = t.Truncate(time.Minute).Add(time.Minute)
	for end := t.AddDate(5, 0, 0); t.Before(end); {
		y, m, d := t.Date()
		switch {
		case c.month&(1<<m) == 0:
			t = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
		case !c.matchesDay(t):
			t = time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
		case c.hour&(1<<t.Hour()) == 0:
			t = t.Add(time.Hour - time.Duration(t.Minute())*time.Minute)
		case c.minute&(1<<t.Minute()) == 0:
			t = t.Add(time.Minute)
		default:
			return t
		}
	}
	return time.Time{}
}

func (c cron) matchesDay(t time.Time) bool {
	day, weekday := c.day&(1<<t.Day()) != 0, c.weekday&(1<<t.Weekday()) != 0
	if c.anyDay {
		return day && weekday
	}
	return day || weekday
}
