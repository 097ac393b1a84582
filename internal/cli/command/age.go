package command

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Span is a duration in at most two units, as people say it.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	d = d.Abs()
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return two(int(d/time.Minute), "m", int(d%time.Minute/time.Second), "s")
	case d < day:
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	}
	return two(int(d/day), "d", int(d%day/time.Hour), "h")
}

func two(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unitA)
	}
	return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
}

// EveryText is a duration as a schedule takes it: 10m, not 10m0s.
func EveryText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var clock = regexp.MustCompile(`^(?:(\d+) days? ?)?(?:(\d+):(\d\d):(\d\d(?:\.\d+)?))?$`)

// Interval is one of PostgreSQL's as people say it: 10m, not 00:10:00. What it
// does not know it leaves as it is.
func Interval(s string) string {
	found := clock.FindStringSubmatch(s)
	if s == "" || found == nil {
		return s
	}
	seconds := 0.0
	for i, size := range []float64{86400, 3600, 60, 1} {
		n, _ := strconv.ParseFloat(found[i+1], 64) // "" is nothing
		seconds += n * size
	}
	d := time.Duration(seconds * float64(time.Second))
	if d%(24*time.Hour) == 0 {
		return Every(seconds) // 2d, not 48h
	}
	return EveryText(d)
}

// Ago is a time as seen from now: "3m ago", "in 2h", exact with -o wide.
func (o *Output) Ago(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case o.Format == "wide":
		return Exact(t)
	case t.After(o.Now):
		return "in " + Span(t.Sub(o.Now))
	}
	return Span(o.Now.Sub(t)) + " ago"
}

// Exact is a time to the millisecond.
func Exact(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") }

// Both is a time in both ways, for a page that has room.
func (o *Output) Both(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	relative := Span(o.Now.Sub(t)) + " ago"
	if t.After(o.Now) {
		relative = "in " + Span(t.Sub(o.Now))
	}
	return relative + " (" + Exact(t) + ")"
}
