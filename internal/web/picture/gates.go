package picture

import (
	"strings"
	"time"

	"github.com/weirhq/weir/internal/locale"
)

// Waiting is what waits where.
type Waiting struct {
	Title string
	Rows  []WaitRow // as they shall stand
	Width int       // 0: 560
}

// WaitRow is the tasks in front of one gate, or of one key of it.
type WaitRow struct {
	Gate   string
	Key    string // the pool or lane; "": all of the gate
	Count  int
	More   bool          // there are more than Count
	Oldest time.Duration // how long the first has waited; 0: not known
	Href   string
}

// Gates draws a bar per gate: how many tasks wait there, and how long the
// oldest has.
func Gates(lang *locale.Words, in Waiting) SVG {
	if len(in.Rows) == 0 {
		return empty(lang.Say("overview.nogate"))
	}
	w := float64(in.Width)
	if w < 240 {
		w = chartWidth
	}
	const row = 28.0
	left, right, most := 0.0, 0.0, 1
	for _, r := range in.Rows {
		left = max(left, textWidth(r.name(lang), sizeText))
		right = max(right, textWidth(r.count(), sizeText)+textWidth(r.age(lang), sizeSmall))
		most = max(most, r.Count)
	}
	left = bound(left+12, 60, w*0.35)
	right = bound(right+20, 40, w*0.4)
	var c canvas
	var told []string
	for i, r := range in.Rows {
		y := row * float64(i)
		end := c.link(r.Href, "pic-row pic-pending")
		say := lang.Say("drawn.gatewaits", r.name(lang), r.count())
		if r.Oldest > 0 {
			say += lang.Say("drawn.oldestfor", duration(lang, r.Oldest))
		}
		told = append(told, say)
		c.title(say)
		c.leaf("rect", "class", "pic-hit", "x", 0, "y", y, "width", w, "height", row)
		c.text(2, y+18, "pic-text", "", fitMiddle(r.name(lang), left-10, sizeText))
		room := w - left - right
		width := max(room*float64(max(r.Count, 0))/float64(most), 3)
		c.leaf("rect", "class", "pic-track", "x", left, "y", y+8, "width", room, "height", 12, "rx", 3)
		c.leaf("rect", "class", "pic-fill", "x", left, "y", y+8, "width", width, "height", 12, "rx", min(3, width/2))
		c.text(left+room+10, y+18, "pic-text pic-tabular", "", r.count())
		c.text(w-2, y+18, "pic-small pic-muted pic-tabular", "end", r.age(lang))
		end()
	}
	return c.seal(frame{class: "pic-gates", w: w, h: row * float64(len(in.Rows)), title: orTitle(in.Title, lang.Say("drawn.gates")), desc: strings.Join(told, ". ") + ".", grow: true})
}

func (r WaitRow) name(lang *locale.Words) string {
	return strings.TrimSpace(gateWord(lang, r.Gate) + " " + r.Key)
}

func (r WaitRow) count() string {
	if r.More {
		return count(r.Count) + "+"
	}
	return count(r.Count)
}

func (r WaitRow) age(lang *locale.Words) string {
	if r.Oldest <= 0 {
		return ""
	}
	return lang.Say("drawn.oldest", duration(lang, r.Oldest))
}
