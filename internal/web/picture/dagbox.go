package picture

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/web/picture/layered"
)

// label is the name of a box with the number of its tasks.
func (b box) label(lang *locale.Words, g *graph) string {
	if len(b.tasks) == 1 {
		return b.name(lang, g)
	}
	return b.name(lang, g) + " × " + count(len(b.tasks))
}

// words is the state of a box in words.
func (b box) words(lang *locale.Words, g *graph) string {
	if len(b.tasks) > 1 {
		return tally(lang, b.count)
	}
	t := g.Tasks[b.tasks[0]]
	word := t.State.word(lang)
	switch {
	case t.State == Running && t.Percent > 0:
		word += " " + strconv.Itoa(min(t.Percent, 100)) + " %"
	case t.State == Pending && t.Gate != "":
		word += ": " + gateWord(lang, t.Gate)
	}
	return word
}

// tooltip is all there is to say about a box.
func (b box) tooltip(lang *locale.Words, g *graph) string {
	if len(b.tasks) > 1 {
		return b.label(lang, g) + "\n" + tally(lang, b.count)
	}
	t := g.Tasks[b.tasks[0]]
	lines := []string{b.name(lang, g)}
	if t.Service != "" && t.Key != "" {
		lines = append(lines, lang.Say("drawn.service", t.Service))
	}
	state := b.words(lang, g)
	if t.Attempt > 1 {
		state += lang.Say("drawn.attempt", t.Attempt)
	}
	lines = append(lines, state)
	if t.Note != "" {
		lines = append(lines, t.Note)
	}
	return strings.Join(lines, "\n")
}

const (
	boxHigh    = 46.0
	groupHigh  = 54.0
	lineHigh   = 26.0
	boxPad     = 10.0
	iconRoom   = 24.0
	maxBox     = 212.0
	maxGroup   = 248.0
	minBox     = 116.0
	maxLineBox = 196.0
)

// size is how much room a box wants.
func (d *dag) size(lang *locale.Words, b box) layered.Size {
	if d.compact && len(b.tasks) == 1 {
		w := iconRoom + boxPad + textWidth(b.name(lang, d.graph), sizeText) + 12 + textWidth(d.word(lang, b), sizeSmall)
		return layered.Size{W: bound(w, minBox, maxLineBox), H: lineHigh}
	}
	first := textWidth(b.label(lang, d.graph), sizeName) + 1
	second := textWidth(d.second(lang, b), sizeSmall) + 1
	if len(b.tasks) > 1 {
		w := max(iconRoom+first, second) + 2*boxPad
		return layered.Size{W: bound(w, minBox, maxGroup), H: groupHigh + 2*stackStep}
	}
	if n := d.badge(b); n != "" {
		first += textWidth(n, sizeTiny) + 14
	}
	return layered.Size{W: bound(iconRoom+max(first, second)+2*boxPad, minBox, maxBox), H: boxHigh}
}

// word is the short state of a box that has one line.
func (d *dag) word(lang *locale.Words, b box) string { return b.state().word(lang) }

// second is the second line of a box.
func (d *dag) second(lang *locale.Words, b box) string {
	words := b.words(lang, d.graph)
	if t := d.Tasks[b.tasks[0]]; len(b.tasks) == 1 && t.Service != "" && t.Key != "" && t.Service != t.Key {
		return t.Service + " · " + words
	}
	return words
}

// badge counts the attempts of a task from the second on.
func (d *dag) badge(b box) string {
	if t := d.Tasks[b.tasks[0]]; len(b.tasks) == 1 && t.Attempt > 1 {
		return "#" + strconv.Itoa(t.Attempt)
	}
	return ""
}

func (d *dag) drawBox(lang *locale.Words, i int) {
	b, r := d.boxes[i], d.at.Boxes[i]
	look := b.state().look()
	href := ""
	if len(b.tasks) == 1 {
		href = d.Tasks[b.tasks[0]].Href
	} else if d.GroupHref != nil {
		href = d.GroupHref(d.Tasks[b.tasks[0]].Service)
	}
	end := d.c.link(href, "pic-node "+look.class)
	d.c.title(b.tooltip(lang, d.graph))
	d.c.b.WriteByte('\n')
	switch {
	case len(b.tasks) > 1:
		d.drawGroup(lang, b, r, look)
	case d.compact:
		d.drawLine(lang, b, r, look)
	default:
		d.drawTask(lang, b, r, look)
	}
	end()
}

func (d *dag) frame(r layered.Box, percent int) {
	d.c.leaf("rect", "class", "pic-box", "x", r.X, "y", r.Y, "width", r.W, "height", r.H, "rx", 7)
	if percent > 0 {
		d.c.leaf("path", "class", "pic-box-progress", "d", filled(r.X+0.75, r.Y+0.75, r.W-1.5, r.H-1.5, 6.25, float64(min(percent, 100))/100))
	}
}

func (d *dag) drawTask(lang *locale.Words, b box, r layered.Box, look look) {
	t := d.Tasks[b.tasks[0]]
	d.frame(r, t.progress())
	d.c.icon(look, r.X+boxPad-1, r.Y+8, 16)
	left, room := r.X+boxPad+iconRoom, r.W-2*boxPad-iconRoom
	nameRoom := room
	if n := d.badge(b); n != "" {
		w := textWidth(n, sizeTiny) + 8
		nameRoom -= w + 6
		d.c.leaf("rect", "class", "pic-badge", "x", r.X+r.W-boxPad-w+2, "y", r.Y+8.5, "width", w, "height", 15, "rx", 7.5)
		d.c.text(r.X+r.W-boxPad-w/2+2, r.Y+19.6, "pic-tiny pic-state-ink", "middle", n)
	}
	d.c.text(left, r.Y+20, "pic-name", "", fitMiddle(b.name(lang, d.graph), nameRoom, sizeName))
	d.serviceLine(t, b.words(lang, d.graph), left, r.Y+36, room)
}

// serviceLine writes service and state. When both do not fit, the service is
// shortened: the state is what people look for.
func (d *dag) serviceLine(t Task, words string, x, y, room float64) {
	words = fit(words, room, sizeSmall)
	if t.Service == "" || t.Key == "" || t.Service == t.Key {
		d.c.text(x, y, "pic-small pic-state-ink", "", words)
		return
	}
	left := room - textWidth(" · "+words, sizeSmall)
	if left < min(3*sizeSmall, textWidth(t.Service, sizeSmall)) {
		d.c.text(x, y, "pic-small pic-state-ink", "", words)
		return
	}
	d.c.open("text", "x", x, "y", y, "class", "pic-small")
	d.c.open("tspan", "class", "pic-muted")
	d.c.b.WriteString(escape(fitMiddle(t.Service, left, sizeSmall) + " · "))
	d.c.b.WriteString("</tspan>")
	d.c.open("tspan", "class", "pic-state-ink")
	d.c.b.WriteString(escape(words))
	d.c.b.WriteString("</tspan>")
	d.c.close("text")
}

func (d *dag) drawLine(lang *locale.Words, b box, r layered.Box, look look) {
	d.frame(r, d.Tasks[b.tasks[0]].progress())
	d.c.icon(look, r.X+7, r.Y+6, 14)
	word := d.word(lang, b)
	d.c.text(r.X+r.W-8, r.Y+17, "pic-small pic-state-ink", "end", word)
	room := r.W - 27 - 8 - textWidth(word, sizeSmall) - 6
	d.c.text(r.X+27, r.Y+17, "pic-text", "", fitMiddle(b.name(lang, d.graph), room, sizeText))
}

func (d *dag) drawGroup(lang *locale.Words, b box, r layered.Box, look look) {
	for i := 2; i > 0; i-- {
		s := stackStep * float64(i)
		d.c.leaf("rect", "class", "pic-box pic-box-sheet", "x", r.X+s, "y", r.Y+s, "width", r.W-2*s, "height", groupHigh, "rx", 7)
	}
	front := layered.Box{X: r.X, Y: r.Y, W: r.W, H: groupHigh}
	d.frame(front, 0)
	d.c.icon(look, r.X+boxPad-1, r.Y+7, 16)
	number := " × " + count(len(b.tasks))
	room := r.W - 2*boxPad - iconRoom
	name := fitMiddle(b.name(lang, d.graph), room-textWidth(number, sizeName), sizeName)
	d.c.text(r.X+boxPad+iconRoom, r.Y+19, "pic-name", "", name+number)
	d.c.text(r.X+boxPad, r.Y+35, "pic-small pic-muted", "", fit(tally(lang, b.count), r.W-2*boxPad, sizeSmall))
	d.c.segments(r.X+boxPad, r.Y+42, r.W-2*boxPad, 5, 3, 0.75, b.count)
}

// progress is how much of the box of a task is filled.
func (t Task) progress() int {
	if t.State != Running {
		return 0
	}
	return max(t.Percent, 0)
}

// filled is the left share of a rounded rectangle, as a path: a clip would
// need an id, and ids of several pictures on one page collide.
func filled(x, y, w, h, r, share float64) string {
	fill := w * bound(share, 0, 1)
	if fill < 2*r {
		fill = min(2*r, w)
	}
	if fill >= w-r {
		return fmt.Sprintf("M%s %sh%sa%[4]s %[4]s 0 0 1 %[4]s %[4]sv%sa%[4]s %[4]s 0 0 1 -%[4]s %[4]sh-%[3]sa%[4]s %[4]s 0 0 1 -%[4]s -%[4]sv-%[5]sa%[4]s %[4]s 0 0 1 %[4]s -%[4]sz",
			num(x+r), num(y), num(w-2*r), num(r), num(h-2*r))
	}
	return fmt.Sprintf("M%s %sh%sv%sh-%[3]sa%[5]s %[5]s 0 0 1 -%[5]s -%[5]sv-%[6]sa%[5]s %[5]s 0 0 1 %[5]s -%[5]sz",
		num(x+r), num(y), num(fill-r), num(h), num(r), num(h-2*r))
}

func bound(v, low, high float64) float64 { return min(max(v, low), high) }
