package picture

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/web/picture/layered"
)

const (
	dagMargin  = 12.0
	dagCompact = 60  // above so many boxes each is one line high
	dagTold    = 30  // up to so many boxes the description names each
	stackStep  = 3.0 // the sheets behind the box of a group
)

// DAG draws the tasks of a job as boxes and their needs as lines, from left to
// right. A box leads to its task. In a large graph equal siblings share a box.
func DAG(lang *locale.Words, in Graph) SVG {
	g := newGraph(in)
	if len(g.Tasks) == 0 {
		return empty(lang.Say("drawn.notasks"))
	}
	d := dag{graph: g}
	d.boxes, d.links = g.boxes()
	d.links, d.hidden = thin(d.links, len(d.boxes))
	d.compact = len(d.boxes) > dagCompact
	d.layout(lang)
	d.drawLinks()
	for i := range d.boxes {
		d.drawBox(lang, i)
	}
	w, h := d.at.W+2*d.side, d.at.H+2*dagMargin
	if d.backs > 0 {
		h += backStep * float64(d.backs+1)
	}
	for _, note := range d.notes(lang) {
		h += 22
		d.c.text(d.side, h-10, "pic-text pic-muted", "", note)
		w = max(w, textWidth(note, sizeText)+2*d.side)
	}
	title := orTitle(in.Title, lang.Say("word.graph"))
	return scroll(lang.Say("drawn.scrolls", title), d.c.seal(frame{
		class: "pic-dag", w: w, h: h, title: title,
		desc: d.told(lang),
	}))
}

// dag is a drawing in the making.
type dag struct {
	*graph
	boxes   []box
	links   []link
	compact bool
	at      layered.Layout
	c       canvas
	side    float64 // margin left and right; wider if edges loop back
	backs   int
	hidden  int // links that are too many to draw
}

// notes says what is missing from the drawing.
func (d *dag) notes(lang *locale.Words) []string {
	var out []string
	if d.More > 0 {
		out = append(out, plural(lang, d.More, "drawn.moretasks"))
	}
	if d.hidden > 0 {
		out = append(out, plural(lang, d.hidden, "drawn.morelines"))
	}
	return out
}

// layout measures the boxes and places them.
func (d *dag) layout(lang *locale.Words) {
	sizes := make([]layered.Size, len(d.boxes))
	for i, b := range d.boxes {
		sizes[i] = d.size(lang, b)
	}
	edges := make([][2]int, len(d.links))
	for i, l := range d.links {
		edges[i] = [2]int{l.from, l.to}
	}
	gap := layered.Gap{Column: 44, Row: 14, Line: 11, Part: 40, Width: 1080}
	if d.compact {
		gap = layered.Gap{Column: 44, Row: 8, Line: 7, Part: 40, Width: 1240}
	}
	d.at = layered.Place(sizes, edges, gap)
	d.side = dagMargin
	for _, e := range d.at.Edges {
		if e.Back {
			d.side = dagMargin + backReach
		}
	}
	for i := range d.at.Boxes {
		d.at.Boxes[i].X += d.side
		d.at.Boxes[i].Y += dagMargin
	}
	for _, e := range d.at.Edges {
		for k := range e.Points {
			e.Points[k].X += d.side
			e.Points[k].Y += dagMargin
		}
	}
}

// told is the description: what a person would say who looks at it.
func (d *dag) told(lang *locale.Words) string {
	count := map[State]int{}
	for _, t := range d.Tasks {
		count[t.State]++
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s.", plural(lang, len(d.Tasks), "drawn.tasks"), tally(lang, count))
	for _, note := range d.notes(lang) {
		fmt.Fprintf(&s, " %s.", note)
	}
	if len(d.boxes) > dagTold {
		return s.String()
	}
	needs := make([][]string, len(d.boxes))
	for _, l := range d.links {
		needs[l.to] = append(needs[l.to], d.boxes[l.from].name(lang, d.graph))
	}
	for i, b := range d.boxes {
		fmt.Fprintf(&s, " %s: %s", b.label(lang, d.graph), b.words(lang, d.graph))
		if len(needs[i]) > 0 {
			s.WriteString(lang.Say("drawn.needs", strings.Join(needs[i], ", ")))
		}
		s.WriteByte('.')
	}
	return s.String()
}
