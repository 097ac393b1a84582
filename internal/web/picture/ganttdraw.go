package picture

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weirhq/weir/internal/locale"
)

func (t *timetable) draw(lang *locale.Words) SVG {
	w := float64(max(t.Width, 0))
	if w < 320 {
		w = ganttWidth
	}
	for _, i := range t.shown {
		t.left = max(t.left, textWidth(t.Rows[i].Name, t.nameSize(i)))
	}
	t.left = bound(t.left+36, 124, w/4)
	t.s = newSpan(t.from, t.to, t.left, w-t.left-ganttRight)
	bottom := ganttTop + ganttRow*float64(len(t.shown))
	if len(t.more) > 0 {
		bottom += ganttRow
	}
	for at := range t.shown {
		if at%2 == 1 {
			t.c.leaf("rect", "class", "pic-stripe", "x", 0, "y", t.y(at), "width", w, "height", ganttRow)
		}
	}
	t.c.text(8, ganttTop-8, "pic-small pic-muted", "", lang.Say("drawn.date", dayOf(lang, t.from), t.from.UTC().Year()))
	t.c.text(w-8, ganttTop-8, "pic-small pic-muted", "end", lang.Say("drawn.ran"))
	t.c.axis(lang, t.s, ganttTop, bottom)
	t.drawPath()
	for at, i := range t.shown {
		t.drawRow(lang, at, i, w)
	}
	if len(t.more) > 0 {
		t.drawMore(lang, w)
	}
	if t.live {
		x := num(math.Round(t.s.at(t.Now)) - 0.5)
		t.c.leaf("path", "class", "pic-now", "d", "M"+x+" "+num(ganttTop)+"V"+num(bottom))
	}
	h := t.drawLegend(lang, bottom+20)
	title := orTitle(t.Title, lang.Say("drawn.timetable"))
	return scroll(lang.Say("drawn.scrolls", title), t.c.seal(frame{class: "pic-gantt pic-min-7", w: w, h: h, title: title, desc: t.told(lang), grow: true}))
}

func (t *timetable) y(at int) float64 { return ganttTop + ganttRow*float64(at) }

func (t *timetable) drawRow(lang *locale.Words, at, i int, w float64) {
	r := t.Rows[i]
	y := t.y(at)
	mid := y + ganttRow/2
	end := t.c.link(r.Href, "pic-row")
	t.c.title(t.rowTitle(lang, i))
	t.c.leaf("rect", "class", "pic-hit", "x", 0, "y", y, "width", w, "height", ganttRow)
	t.c.icon(r.State.look(), 8, mid-6, 12)
	class := "pic-text"
	if t.onPath[i] {
		class += " pic-strong"
	}
	t.c.text(25, mid+4, class, "", fitMiddle(r.Name, t.left-33, t.nameSize(i)))
	for _, wait := range t.waits(r) {
		t.drawWait(lang, wait, mid)
	}
	for k, b := range r.Bars {
		next := w - ganttRight
		if k+1 < len(r.Bars) {
			next = t.s.at(r.Bars[k+1].From)
		}
		t.drawBar(lang, b, len(r.Bars), mid, next, t.onPath[i])
	}
	if len(r.Bars) > 0 {
		t.c.text(w-8, mid+4, "pic-small pic-muted pic-tabular", "end", duration(lang, t.took(i)))
	}
	end()
}

// nameSize is the size to measure a row's name with: those of the critical
// path are bold.
func (t *timetable) nameSize(i int) float64 {
	if t.onPath[i] {
		return sizeText * boldWider
	}
	return sizeText
}

func (t *timetable) rowTitle(lang *locale.Words, i int) string {
	r := t.Rows[i]
	s := r.Name + ": " + r.State.word(lang)
	if r.Service != "" {
		s += "\n" + lang.Say("drawn.service", r.Service)
	}
	if len(r.Bars) > 0 {
		s += "\n" + lang.Say("drawn.ranin", duration(lang, t.took(i)), plural(lang, len(r.Bars), "drawn.attempts"))
	}
	if t.onPath[i] {
		s += "\n" + lang.Say("drawn.oncritical")
	}
	return s
}

// waits is the time a row did not run. Without better knowledge it is what
// lies before, between and after the attempts.
func (t *timetable) waits(r Row) []Wait {
	if len(r.Waits) > 0 {
		return r.Waits
	}
	var out []Wait
	since := r.Created
	for _, b := range r.Bars {
		if !since.IsZero() && b.From.After(since) {
			out = append(out, Wait{From: since, To: b.From})
		}
		since = t.until(b)
	}
	if (r.State == Pending || r.State == Available) && !since.IsZero() && t.Now.After(since) {
		out = append(out, Wait{From: since, To: t.Now})
	}
	return out
}

func (t *timetable) drawWait(lang *locale.Words, w Wait, mid float64) {
	end := w.To
	if end.IsZero() {
		end = t.Now
	}
	if w.From.IsZero() || end.Before(w.From) {
		return
	}
	x0, x1 := t.s.at(w.From), t.s.at(end)
	class, say := "pic-wait", lang.Say("drawn.waited", duration(lang, end.Sub(w.From)))
	if w.Gate != "" {
		say += " " + lang.Say("life.gate", gateWord(lang, w.Gate))
	}
	if w.Gate == "time" {
		class += " pic-wait-time"
	}
	t.c.open("g", "class", class)
	t.c.title(say)
	t.c.leaf("path", "d", fmt.Sprintf("M%s %sH%s", num(x0), num(mid), num(max(x1, x0+1))))
	t.c.leaf("path", "d", fmt.Sprintf("M%s %sv6", num(x0+0.5), num(mid-3)))
	t.c.close("g")
}

// drawBar draws an attempt, up to where the next one starts. One that did not
// end well carries its icon, so that its colour is not the only sign.
func (t *timetable) drawBar(lang *locale.Words, b Bar, of int, mid, next float64, critical bool) {
	look := b.Outcome.look()
	x0, x1 := t.s.at(b.From), t.s.at(t.until(b))
	width := max(x1-x0, 3)
	if x0+width > t.s.x+t.s.w {
		x0 = t.s.x + t.s.w - width
	}
	t.c.open("g", "class", "pic-bar "+look.class)
	t.c.title(t.barTitle(lang, b))
	t.c.leaf("rect", "x", x0, "y", mid-ganttBar/2, "width", width, "height", ganttBar, "rx", min(3, width/2))
	if critical {
		t.c.leaf("rect", "class", "pic-critical-bar", "x", x0, "y", mid+ganttBar/2+1.5, "width", width, "height", 2, "rx", 1)
	}
	if n := "#" + strconv.Itoa(b.Attempt); of > 1 && width > textWidth(n, sizeTiny)+6 {
		t.c.text(x0+width/2, mid+3.6, "pic-tiny pic-inverse", "middle", n)
	}
	bad := b.Outcome != Done && b.Outcome != Running
	if bad && next-x0-width >= 15 {
		t.c.icon(look, x0+width+2, mid-6, 12)
	}
	t.c.close("g")
}

func (t *timetable) barTitle(lang *locale.Words, b Bar) string {
	end := t.until(b)
	s := lang.Say("drawn.outcome", b.Attempt, b.Outcome.word(lang))
	if b.To.IsZero() {
		s += lang.Say("drawn.fornow", duration(lang, end.Sub(b.From)))
	} else {
		s += lang.Say("drawn.after", duration(lang, end.Sub(b.From)))
	}
	s += "\n" + lang.Say("drawn.from", stamp(b.From))
	if b.Worker != "" {
		s += "\n" + lang.Say("glance.on", b.Worker)
	}
	return s
}

// drawPath joins the rows of the critical path where one waited for the other.
func (t *timetable) drawPath() {
	var d path
	for k := 0; k+1 < len(t.path); k++ {
		to, from := t.path[k], t.path[k+1]
		a, ok := t.place[from]
		b, ok2 := t.place[to]
		if !ok || !ok2 {
			continue
		}
		x, x2 := t.s.at(t.end(from)), t.s.at(t.Rows[to].start())
		d.move(x, t.y(a)+ganttRow/2).plumb(t.y(b) + ganttRow/2).level(max(x, x2))
	}
	if !d.empty() {
		t.c.leaf("path", "class", "pic-critical", "d", d.String())
	}
}

// drawMore is the last row: how many of the others ran at each moment.
func (t *timetable) drawMore(lang *locale.Words, w float64) {
	const cells = 120
	var busy [cells]int
	for _, i := range t.more {
		var mine [cells]bool
		for _, b := range t.Rows[i].Bars {
			k0 := int((t.s.at(b.From) - t.s.x) / t.s.w * (cells - 1))
			k1 := int((t.s.at(t.until(b)) - t.s.x) / t.s.w * (cells - 1))
			for k := k0; k <= k1; k++ {
				mine[k] = true
			}
		}
		for k, on := range mine {
			if on {
				busy[k]++
			}
		}
	}
	y := t.y(len(t.shown))
	most := slices.Max(busy[:])
	end := t.c.link(t.MoreHref, "pic-row")
	t.c.title(lang.Say("drawn.rest", plural(lang, len(t.more), "drawn.tasks"), most))
	t.c.leaf("rect", "class", "pic-hit", "x", 0, "y", y, "width", w, "height", ganttRow)
	t.c.text(25, y+ganttRow/2+4, "pic-text pic-muted", "", lang.Say("drawn.more", count(len(t.more))))
	if most > 0 {
		var d path
		floor := y + ganttRow - 4
		cell := t.s.w / cells
		d.move(t.s.x, floor)
		for k, n := range busy {
			d.plumb(floor - float64(n)/float64(most)*(ganttRow-8)).level(t.s.x + cell*float64(k+1))
		}
		d.plumb(floor).raw("z")
		t.c.leaf("path", "class", "pic-more", "d", d.String())
	}
	end()
}

// drawLegend names what is drawn, and nothing else. It returns the height of
// the picture.
func (t *timetable) drawLegend(lang *locale.Words, y float64) float64 {
	n := map[State]int{}
	waits := false
	for _, i := range t.shown {
		for _, b := range t.Rows[i].Bars {
			n[b.Outcome]++
		}
		waits = waits || len(t.waits(t.Rows[i])) > 0
	}
	x := t.left
	item := func(word string, draw func()) {
		draw()
		t.c.text(x+20, y+4, "pic-small pic-muted", "", word)
		x += 20 + textWidth(word, sizeSmall) + 18
	}
	for _, s := range sorted(n) {
		look := s.look()
		item(s.word(lang), func() {
			if s == Done || s == Running {
				t.c.open("g", "class", "pic-bar "+look.class)
				t.c.leaf("rect", "x", x, "y", y-4, "width", 14, "height", 8, "rx", 2)
				t.c.close("g")
			} else {
				t.c.icon(look, x+1, y-6, 12)
			}
		})
	}
	line := func(class string) func() {
		return func() { t.c.leaf("path", "class", class, "d", fmt.Sprintf("M%s %sh14", num(x), num(y))) }
	}
	if waits {
		item(lang.Say("drawn.waiting"), line("pic-wait"))
	}
	if len(t.path) > 0 {
		item(lang.Say("drawn.criticalpath"), line("pic-critical"))
	}
	if t.live {
		item(lang.Say("drawn.now", t.Now.UTC().Format("15:04:05")), func() {
			t.c.leaf("path", "class", "pic-now", "d", fmt.Sprintf("M%s %sv12", num(x+7), num(y-6)))
		})
	}
	return y + 14
}
