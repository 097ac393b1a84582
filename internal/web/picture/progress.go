package picture

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weirhq/weir/internal/locale"
)

// Progress is how far a job is: how many of its tasks are in each state.
type Progress struct {
	Title  string
	Counts map[State]int
}

// ended counts the tasks that have come to their end, of all.
func (p Progress) ended() (ended, all int) {
	for s, n := range p.Counts {
		n = max(n, 0)
		all += n
		switch s {
		case Done, Failed, Canceled, Skipped:
			ended += n
		}
	}
	return ended, all
}

func (p Progress) told(lang *locale.Words) string {
	ended, all := p.ended()
	if all == 0 {
		return "no tasks yet"
	}
	return fmt.Sprintf("%s of %s ended: %s", count(ended), plural(lang, all, "drawn.tasks"), tally(lang, p.Counts))
}

// percent rounds down: a job is at 100 when its last task has ended.
func (p Progress) percent() int {
	ended, all := p.ended()
	if all == 0 {
		return 0
	}
	return int(float64(ended) / float64(all) * 100)
}

// ProgressBar draws a bar with a part per state, for a line of a table. It has
// no text and takes the width of its place.
func ProgressBar(lang *locale.Words, in Progress) SVG {
	const w, h = 1000.0, 8.0
	var c canvas
	c.leaf("rect", "class", "pic-track", "x", 0, "y", 0, "width", w, "height", h)
	if _, all := in.ended(); all > 0 {
		c.segments(0, 0, w, h, 8, 3, in.Counts)
	}
	return c.seal(frame{class: "pic-progress", w: w, h: h, title: orTitle(in.Title, "Progress") + ": " + in.told(lang), grow: true, stretch: true})
}

// ProgressRing draws a ring with a part per state and the percent in its middle.
func ProgressRing(lang *locale.Words, in Progress) SVG {
	const size, r, line = 88.0, 36.0, 9.0
	var c canvas
	c.leaf("circle", "class", "pic-ring pic-ring-track", "cx", size/2, "cy", size/2, "r", r, "stroke-width", line)
	if _, all := in.ended(); all > 0 {
		states := byProgress(in.Counts)
		parts := make([]float64, len(states))
		for i, s := range states {
			parts[i] = float64(in.Counts[s])
		}
		round := 2 * math.Pi * r
		at := 0.0
		for i, width := range shares(parts, round, min(4, round/float64(len(parts)))) {
			gap := 1.0
			if len(parts) == 1 {
				gap = 0
			}
			c.leaf("circle", "class", "pic-ring "+states[i].look().class, "cx", size/2, "cy", size/2, "r", r, "stroke-width", line,
				"stroke-dasharray", num(max(width-gap, 1))+" "+num(round), "stroke-dashoffset", -at,
				"transform", "rotate(-90 "+num(size/2)+" "+num(size/2)+")")
			at += width
		}
	}
	c.text(size/2, size/2+6, "pic-large pic-tabular", "middle", strconv.Itoa(in.percent())+"%")
	return c.seal(frame{class: "pic-ringed", w: size, h: size, title: orTitle(in.Title,
		"Progress") + ": " + in.told(lang)})
}

// Level is one share of a whole.
type Level struct {
	Title   string
	Percent int
	State   State
}

// Meter draws a Level as a bar. It has no text and takes the width of its place.
func Meter(lang *locale.Words, in Level) SVG {
	const w, h = 1000.0, 8.0
	percent := min(max(in.Percent, 0), 100)
	var c canvas
	c.leaf("rect", "class", "pic-track", "x", 0, "y", 0, "width", w, "height", h)
	if percent > 0 {
		c.leaf("rect", "class", "pic-fill "+in.State.look().class, "x", 0, "y", 0, "width", max(w*float64(percent)/100, 8), "height", h)
	}
	return c.seal(frame{class: "pic-progress", w: w, h: h, title: fmt.Sprintf("%s: %d percent, %s", orTitle(in.Title, "Progress"), percent, in.State.word(lang)), grow: true, stretch: true})
}

// Icon draws the icon of a state, for a table or a line of text. Its title is
// the word of the state.
func Icon(lang *locale.Words, s State) SVG {
	var c canvas
	c.icon(s.look(), 0, 0, 16)
	return c.seal(frame{class: "pic-glyph", w: 16, h: 16, title: s.word(lang)})
}
