package picture

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

// Life is the states one task went through.
type Life struct {
	Title string
	Spans []Span // in order of time
	Now   time.Time
	Width int // 0: 720
}

// Span is a stretch of time in one state.
type Span struct {
	State    State
	Note     string    // the gate, the attempt, the worker
	From, To time.Time // To zero: still
}

// Strip draws a Life as one bar with a part per stretch. A short stretch keeps
// a visible part, so lengths compare only roughly; durations are in words.
func Strip(lang *locale.Words, in Life) SVG {
	spans := make([]Span, 0, len(in.Spans))
	for _, s := range in.Spans {
		if s.From.IsZero() {
			continue
		}
		if s.To.IsZero() {
			s.To = in.Now
		}
		if s.To.Before(s.From) {
			s.To = s.From
		}
		spans = append(spans, s)
	}
	if len(spans) == 0 {
		return empty(lang.Say("drawn.nothing"))
	}
	w := float64(in.Width)
	if w < 240 {
		w = 720
	}
	const top, high = 6.0, 30.0
	parts := make([]float64, len(spans))
	for i, s := range spans {
		parts[i] = max(float64(s.To.Sub(s.From)), 1)
	}
	var c canvas
	var told []string
	x := 0.0
	for i, width := range shares(parts, w, min(22, w/float64(len(spans)))) {
		s := spans[i]
		told = append(told, c.stretch(lang, s, x, top, width, high))
		x += width
	}
	last := spans[len(spans)-1]
	from, to := stamp(spans[0].From), stamp(last.To)
	c.text(0, top+high+16, "pic-small pic-muted pic-tabular", "", from)
	c.text(w, top+high+16, "pic-small pic-muted pic-tabular", "end", to)
	c.text(w/2, top+high+16, "pic-small pic-muted", "middle", duration(lang, last.To.Sub(spans[0].From)))
	return c.seal(frame{class: "pic-strip", w: w, h: top + high + 22, title: orTitle(in.Title, lang.Say("drawn.states")), desc: strings.Join(told, lang.Say("drawn.then")) + ".", grow: true})
}

// stretch draws one part and returns it in words. Words give way to the
// duration, the duration to the icon, as the part gets narrow.
func (c *canvas) stretch(lang *locale.Words, s Span, x, y, w, h float64) string {
	look := s.State.look()
	long := duration(lang, s.To.Sub(s.From))
	say := lang.Say("drawn.for", s.State.word(lang), long)
	tip := say
	if s.Note != "" {
		tip += "\n" + s.Note
		say += " (" + s.Note + ")"
	}
	c.open("g", "class", "pic-stretch "+look.class)
	c.title(tip + "\n" + lang.Say("drawn.from", stamp(s.From)))
	c.leaf("rect", "x", x+0.75, "y", y, "width", max(w-1.5, 1), "height", h, "rx", min(4, w/4))
	full := s.State.word(lang) + " " + long
	switch room := w - 34; {
	case textWidth(full, sizeSmall) <= room:
		c.icon(look, x+9, y+h/2-7, 14)
		c.text(x+28, y+h/2+4, "pic-small pic-state-ink", "", full)
	case textWidth(long, sizeSmall) <= room:
		c.icon(look, x+9, y+h/2-7, 14)
		c.text(x+28, y+h/2+4, "pic-small pic-state-ink", "", long)
	case w >= 16:
		c.icon(look, x+w/2-min(7, w/2-3), y+h/2-min(7, w/2-3), min(14, w-6))
	}
	c.close("g")
	return say
}
