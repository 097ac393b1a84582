package picture

import (
	"math"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

const day = 24 * time.Hour

// steps are the distances of ticks that people can count in.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 364 * day,
}

// span is a stretch of time laid over a stretch of the picture.
type span struct {
	from, to time.Time
	x, w     float64
}

// newSpan widens a stretch that is too short to divide, and keeps one that is
// absurdly long countable.
func newSpan(from, to time.Time, x, w float64) span {
	if to.Before(from) {
		to = from
	}
	if to.Sub(from) < 10*time.Millisecond {
		to = from.Add(10 * time.Millisecond)
	}
	return span{from, to, x, w}
}

// at is where an instant stands; instants outside stand at the ends.
func (s span) at(t time.Time) float64 {
	share := float64(t.Sub(s.from)) / float64(s.to.Sub(s.from))
	return s.x + s.w*bound(share, 0, 1)
}

type tick struct {
	at    time.Time
	label string
}

// ticks divides the span, so that each label has room apart from the next.
func (s span) ticks(lang *locale.Words) []tick {
	length := s.to.Sub(s.from)
	step := steps[len(steps)-1]
	for _, d := range steps {
		if s.w*float64(d)/float64(length) >= textWidth(label(lang, s.from, d), sizeSmall)+22 {
			step = d
			break
		}
	}
	for float64(length)/float64(step) > s.w/60 && step < math.MaxInt64/4 {
		step *= 2
	}
	var out []tick
	first := s.from.UTC().Truncate(step)
	for t := first; !t.After(s.to) && len(out) < 500; t = t.Add(step) {
		if !t.Before(s.from) {
			out = append(out, tick{t, label(lang, t, step)})
		}
	}
	return out
}

// label writes an instant as finely as the step needs. Midnight says the day.
func label(lang *locale.Words, t time.Time, step time.Duration) string {
	t = t.UTC()
	switch {
	case step >= 91*day:
		return lang.Say("drawn.month", lang.Say("month.short."+strconv.Itoa(int(t.Month()))), t.Year())
	case step >= day:
		return dayOf(lang, t)
	case step >= time.Minute && t.Hour() == 0 && t.Minute() == 0:
		return dayOf(lang, t)
	case step >= time.Minute:
		return t.Format("15:04")
	case step >= time.Second:
		return t.Format("15:04:05")
	}
	return t.Format("15:04:05.000")
}

// axis draws the ticks over a plot from top to bottom, labels above it.
func (c *canvas) axis(lang *locale.Words, s span, top, bottom float64) {
	ticks := s.ticks(lang)
	for _, t := range ticks {
		c.leaf("path", "class", "pic-grid", "d", "M"+num(math.Round(s.at(t.at))+0.5)+" "+num(top-18)+"V"+num(bottom))
	}
	for _, t := range ticks {
		if x := s.at(t.at) + 4; x+textWidth(t.label, sizeSmall) <= s.x+s.w {
			c.text(x, top-8, "pic-small pic-muted pic-tabular", "", t.label)
		}
	}
}
