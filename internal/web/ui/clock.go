package ui

import (
	"context"
	"fmt"
	"time"
)

type nowKey struct{}

// WithNow sets the time that ages on a page count from.
func WithNow(ctx context.Context, now time.Time) context.Context {
	return context.WithValue(ctx, nowKey{}, now)
}

// Now is what WithNow set, else the time it is.
func Now(ctx context.Context) time.Time {
	if now, ok := ctx.Value(nowKey{}).(time.Time); ok {
		return now
	}
	return time.Now()
}

const day = 24 * time.Hour

// ago is a time as seen from now, in one unit: a list is read at a glance. The
// module says the same words (weir.js).
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d.Abs() < time.Second:
		return "now"
	case d < 0:
		return "in " + rough(-d)
	}
	return rough(d) + " ago"
}

func rough(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < day:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int(d/day))
}

// Duration is a span of time in at most two units, as people say it.
func Duration(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	return whole(d)
}

func whole(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
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

func machine(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func exact(t time.Time) string   { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }
