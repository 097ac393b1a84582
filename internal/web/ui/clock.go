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
// module says the same, with the words of scriptWords.
func ago(ctx context.Context, t time.Time) string {
	d := Now(ctx).Sub(t)
	switch {
	case d.Abs() < time.Second:
		return Say(ctx, "time.now")
	case d < 0:
		return Say(ctx, "time.in", rough(ctx, -d))
	}
	return Say(ctx, "time.ago", rough(ctx, d))
}

func rough(ctx context.Context, d time.Duration) string {
	switch {
	case d < time.Minute:
		return Say(ctx, "time.s", int(d/time.Second))
	case d < time.Hour:
		return Say(ctx, "time.m", int(d/time.Minute))
	case d < day:
		return Say(ctx, "time.h", int(d/time.Hour))
	}
	return Say(ctx, "time.d", int(d/day))
}

// Duration is a span of time in at most two units, as people say it.
func Duration(ctx context.Context, d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return Say(ctx, "time.tenths", d.Truncate(100*time.Millisecond).Seconds())
	}
	return whole(ctx, d)
}

func whole(ctx context.Context, d time.Duration) string {
	switch {
	case d < time.Minute:
		return Say(ctx, "time.s", int(d/time.Second))
	case d < time.Hour:
		return two(ctx, "time.m", int(d/time.Minute), "time.s", int(d%time.Minute/time.Second))
	case d < day:
		return two(ctx, "time.h", int(d/time.Hour), "time.m", int(d%time.Hour/time.Minute))
	}
	return two(ctx, "time.d", int(d/day), "time.h", int(d%day/time.Hour))
}

func two(ctx context.Context, keyA string, a int, keyB string, b int) string {
	if b == 0 {
		return Say(ctx, keyA, a)
	}
	return Say(ctx, "time.two", Say(ctx, keyA, a), Say(ctx, keyB, b))
}

func machine(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func exact(t time.Time) string   { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }
