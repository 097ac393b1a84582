package picture

import (
	"fmt"
	"strconv"

	"github.com/weirhq/weir/internal/locale"
)

// Fleet is the slots of every PC.
type Fleet struct {
	Title string
	Rows  []PC
	Limit int // PCs to draw; 0: 100
}

// PC is one machine of a fleet.
type PC struct {
	Name  string
	State State
	Href  string
	Slots []Slot
}

// Slot is one unit of a PC: a device and what it does.
type Slot struct {
	Label string // the device
	State State
	Href  string
	Note  string // one more line of the tooltip
}

// SlotGrid draws PCs as rows and their slots as columns. Each cell has the
// colour and the sign of its state; a legend counts them in words.
func SlotGrid(lang *locale.Words, in Fleet) SVG {
	if len(in.Rows) == 0 {
		return empty("No PC has joined the fleet yet.")
	}
	limit := in.Limit
	if limit <= 0 {
		limit = 100
	}
	rows := in.Rows[:min(limit, len(in.Rows))]
	name, columns := 0.0, 0
	for _, r := range rows {
		name = max(name, textWidth(r.Name, sizeText))
		columns = max(columns, len(r.Slots))
	}
	name = bound(name+36, 90, 220)
	const cell, row, top = 22.0, 24.0, 22.0
	w := max(name+cell*float64(columns)+96, 360)
	var c canvas
	for k := range columns {
		if k == 0 || (k+1)%5 == 0 {
			c.text(name+cell*float64(k)+9.5, 14, "pic-tiny pic-muted", "middle", strconv.Itoa(k+1))
		}
	}
	all := map[State]int{}
	for i, r := range rows {
		y := top + row*float64(i)
		busy := 0
		end := c.link(r.Href, "pic-row")
		c.title(r.Name + ": " + r.State.word(lang))
		c.leaf("rect", "class", "pic-hit", "x", 0, "y", y, "width", name-6, "height", row)
		c.icon(r.State.look(), 4, y+6, 12)
		c.text(22, y+16, "pic-text", "", fitMiddle(r.Name, name-32, sizeText))
		end()
		for k, s := range r.Slots {
			all[s.State]++
			if s.State != Free && s.State != Offline {
				busy++
			}
			c.cell(lang, s, k, name+cell*float64(k), y+3)
		}
		c.text(name+cell*float64(columns)+12, y+16, "pic-small pic-muted pic-tabular", "", fmt.Sprintf("%d of %d busy", busy, len(r.Slots)))
	}
	h := top + row*float64(len(rows))
	if rest := len(in.Rows) - len(rows); rest > 0 {
		c.text(22, h+15, "pic-text pic-muted", "", lang.Say("drawn.more", count(rest)))
		h += row
	}
	h = c.legend(lang, all, 4, h+14, w)
	title := orTitle(in.Title, "Slots")
	desc := fmt.Sprintf("%s: %s.", plural(lang, len(in.Rows), "drawn.pcs"), tally(lang, all))
	return scroll(lang.Say("drawn.scrolls", title), c.seal(frame{
		class: "pic-slots", w: w, h: h, title: title,
		desc: desc,
	}))
}

// cell is one slot: filled where work goes on, a ring where nothing does, with
// the sign of its state.
func (c *canvas) cell(lang *locale.Words, s Slot, k int, x, y float64) {
	look := s.State.look()
	say := "slot " + strconv.Itoa(k+1) + ": " + s.State.word(lang)
	if s.Label != "" {
		say = s.Label + ", " + say
	}
	if s.Note != "" {
		say += "\n" + s.Note
	}
	end := c.link(s.Href, "pic-cell "+look.class)
	c.title(say)
	c.leaf("rect", "x", x+0.5, "y", y+0.5, "width", 18, "height", 17, "rx", 3.5)
	if mark := icons[look.icon].mark; mark != "" {
		c.leaf("path", "class", "pic-cell-mark", "d", mark, "transform", "translate("+num(x+1.5)+" "+num(y+1)+")")
	}
	end()
}

// legend writes the states that n counts, with icon, word and number, in lines
// no wider than w. It returns the height it ends at.
func (c *canvas) legend(lang *locale.Words, n map[State]int, x, y, w float64) float64 {
	left := x
	for _, s := range sorted(n) {
		word := count(n[s]) + " " + s.word(lang)
		need := 18 + textWidth(word, sizeSmall) + 16
		if x > left && x+need > w {
			x, y = left, y+20
		}
		c.icon(s.look(), x, y-2, 12)
		c.text(x+17, y+8, "pic-small pic-muted", "", word)
		x += need
	}
	return y + 18
}
