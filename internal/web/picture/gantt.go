package picture

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

const (
	ganttWidth  = 1000
	ganttRows   = 60
	ganttTop    = 30.0
	ganttRow    = 24.0
	ganttBar    = 12.0
	ganttRight  = 78.0
	ganttLegend = 30.0
)

// Gantt draws when the tasks of a job waited and ran: a row per task, a bar
// per attempt, a thin line for waiting, and the critical path.
func Gantt(lang *locale.Words, in Timetable) SVG {
	in.Rows = slices.Clone(in.Rows) // bounds drops bars; the caller's stay
	t := &timetable{Timetable: in}
	if len(in.Rows) == 0 {
		return empty(lang.Say("drawn.notasks"))
	}
	if !t.bounds() {
		return empty(lang.Say("drawn.notstarted"))
	}
	t.choose()
	return t.draw(lang)
}

// timetable is a Timetable being drawn.
type timetable struct {
	Timetable
	c        canvas
	from, to time.Time
	live     bool
	path     []int // the critical path, last row first
	onPath   map[int]bool
	shown    []int       // rows to draw, from top to bottom
	more     []int       // the others
	place    map[int]int // row → its place in shown
	s        span
	left     float64
}

// until is when a bar ends: now, if it still runs.
func (t *timetable) until(b Bar) time.Time {
	end := b.To
	if end.IsZero() {
		end = t.Now
	}
	if end.Before(b.From) {
		return b.From
	}
	return end
}

// bounds finds the first and the last instant. It is false when there is none.
func (t *timetable) bounds() bool {
	for i := range t.Rows {
		bars := slices.Clone(t.Rows[i].Bars)
		t.Rows[i].Bars = slices.DeleteFunc(bars, func(b Bar) bool { return b.From.IsZero() })
	}
	see := func(at time.Time) {
		if at.IsZero() {
			return
		}
		if t.from.IsZero() || at.Before(t.from) {
			t.from = at
		}
		if at.After(t.to) {
			t.to = at
		}
	}
	for _, r := range t.Rows {
		see(r.Created)
		for _, w := range r.Waits {
			see(w.From)
			see(w.To)
		}
		for _, b := range r.Bars {
			see(b.From)
			see(b.To)
			t.live = t.live || b.To.IsZero()
		}
		switch r.State {
		case Pending, Available, Running:
			t.live = true
		}
	}
	if t.from.IsZero() {
		return false
	}
	if t.Now.IsZero() {
		t.Now = t.to
		t.live = false
	}
	if t.live {
		see(t.Now)
	}
	return true
}

// start orders the rows: when they first ran, then when they came.
func (r Row) start() time.Time {
	if len(r.Bars) > 0 {
		return r.Bars[0].From
	}
	return time.Time{}
}

// choose picks the rows to draw: the critical path, what failed, what runs,
// what was tried again, then what took longest.
func (t *timetable) choose() {
	t.path = t.critical()
	t.onPath = map[int]bool{}
	for _, i := range t.path {
		t.onPath[i] = true
	}
	t.shown = make([]int, len(t.Rows))
	for i := range t.shown {
		t.shown[i] = i
	}
	limit := t.Limit
	if limit <= 0 {
		limit = ganttRows
	}
	if len(t.shown) > limit {
		slices.SortStableFunc(t.shown, func(a, b int) int {
			return cmp.Or(cmp.Compare(t.weight(b), t.weight(a)), cmp.Compare(t.took(b), t.took(a)))
		})
		t.shown, t.more = t.shown[:limit], t.shown[limit:]
	}
	slices.SortStableFunc(t.shown, func(a, b int) int {
		x, y := t.Rows[a], t.Rows[b]
		never := func(r Row) int {
			if len(r.Bars) == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(never(x), never(y)), x.start().Compare(y.start()), x.Created.Compare(y.Created), cmp.Compare(a, b))
	})
	t.place = make(map[int]int, len(t.shown))
	for at, i := range t.shown {
		t.place[i] = at
	}
}

func (t *timetable) weight(i int) int {
	r := t.Rows[i]
	switch {
	case t.onPath[i]:
		return 4
	case r.State == Failed:
		return 3
	case r.State == Running:
		return 2
	case len(r.Bars) > 1:
		return 1
	}
	return 0
}

// took is how long a row ran, over all its attempts.
func (t *timetable) took(i int) time.Duration {
	var d time.Duration
	for _, b := range t.Rows[i].Bars {
		d += t.until(b).Sub(b.From)
	}
	return d
}

// told is the description.
func (t *timetable) told(lang *locale.Words) string {
	n := map[State]int{}
	for _, r := range t.Rows {
		n[r.State]++
	}
	var s strings.Builder
	s.WriteString(lang.Say("drawn.gantt", plural(lang, len(t.Rows), "drawn.tasks"), duration(lang, t.to.Sub(t.from)), stamp(t.from), stamp(t.to), tally(lang, n)))
	if len(t.path) > 0 {
		names := make([]string, 0, len(t.path))
		for _, i := range slices.Backward(t.path) {
			names = append(names, t.Rows[i].Name)
		}
		s.WriteString(" " + lang.Say("drawn.critical", strings.Join(names, ", ")))
	}
	if len(t.more) > 0 {
		s.WriteString(" " + plural(lang, len(t.more), "drawn.norow"))
	}
	return s.String()
}
