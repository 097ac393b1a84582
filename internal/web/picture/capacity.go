package picture

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/locale"
)

// Machines is how much of each machine is in use.
type Machines struct {
	Title string
	Rows  []Machine
	Limit int // machines to draw; 0: 50
	Width int // 0: 560
}

// Machine is a node with its services.
type Machine struct {
	Name     string
	State    State // Running while it is alive; Draining, Offline …
	Href     string
	Services []Service
}

// Service is the slots of a machine for one service.
type Service struct {
	Name       string
	Used, Size int
}

const (
	slotSide  = 12.0
	slotStep  = 15.0
	slotLimit = 24 // more slots than this are a bar
)

// Capacity draws the slots of each machine, used and free, by service.
func Capacity(lang *locale.Words, in Machines) SVG {
	if len(in.Rows) == 0 {
		return empty(lang.Say("drawn.nomachine"))
	}
	w := float64(in.Width)
	if w < 320 {
		w = chartWidth
	}
	limit := in.Limit
	if limit <= 0 {
		limit = 50
	}
	rows := in.Rows[:min(limit, len(in.Rows))]
	name, service, number := 0.0, 0.0, 0.0
	for _, m := range rows {
		name = max(name, textWidth(m.Name, sizeText))
		for _, s := range m.Services {
			service = max(service, textWidth(s.Name, sizeSmall))
			number = max(number, textWidth(s.number(lang), sizeSmall))
		}
	}
	name = bound(name+34, 90, w*0.3)
	service = bound(service+14, 40, w*0.22)
	number = bound(number+16, 40, w*0.3)
	const line, pad = 20.0, 8.0
	var c canvas
	var told []string
	y := 0.0
	for i, m := range rows {
		high := line*float64(max(len(m.Services), 1)) + pad
		if i > 0 {
			c.leaf("path", "class", "pic-grid", "d", fmt.Sprintf("M0 %sH%s", num(y+0.5), num(w)))
		}
		end := c.link(m.Href, "pic-row")
		c.title(m.told(lang))
		c.leaf("rect", "class", "pic-hit", "x", 0, "y", y+1, "width", w, "height", high-1)
		c.icon(m.State.look(), 4, y+pad/2+4, 12)
		c.text(22, y+pad/2+14, "pic-text", "", fitMiddle(m.Name, name-30, sizeText))
		if len(m.Services) == 0 {
			c.text(name, y+pad/2+14, "pic-small pic-muted", "", lang.Say("drawn.nothingyet"))
		}
		for k, s := range m.Services {
			c.slots(lang, s, name, y+pad/2+line*float64(k), service, w, number)
		}
		end()
		told = append(told, m.told(lang))
		y += high
	}
	if rest := len(in.Rows) - len(rows); rest > 0 {
		c.text(22, y+16, "pic-text pic-muted", "", lang.Say("drawn.more", count(rest)))
		y += 24
	}
	return c.seal(frame{class: "pic-capacity", w: w, h: y, title: orTitle(in.Title, lang.Say("drawn.capacity")), desc: strings.Join(told, ". ") + ".", grow: true})
}

// slots draws one service of a machine: a square per slot, or a bar for many.
func (c *canvas) slots(lang *locale.Words, s Service, x, y, label, w, right float64) {
	used, size := max(s.Used, 0), max(s.Size, 0)
	c.text(x, y+14, "pic-small pic-muted", "", fitMiddle(s.Name, label-12, sizeSmall))
	left, room := x+label, w-x-label-right
	class := "pic-running"
	if used > size {
		class = "pic-failed"
	}
	if size <= slotLimit && used <= size && float64(size)*slotStep <= room {
		for k := range size {
			box := "pic-slot"
			if k < used {
				box = "pic-slot pic-slot-full " + class
			}
			c.leaf("rect", "class", box, "x", left+slotStep*float64(k)+0.5, "y", y+4.5, "width", slotSide-1, "height", slotSide-1, "rx", 2.5)
		}
	} else {
		c.leaf("rect", "class", "pic-track", "x", left, "y", y+5, "width", room, "height", 10, "rx", 3)
		if used > 0 {
			width := room * min(float64(used)/float64(max(size, 1)), 1)
			c.leaf("rect", "class", "pic-fill "+class, "x", left, "y", y+5, "width", max(width, 3), "height", 10, "rx", 1.5)
		}
	}
	c.text(w-4, y+14, "pic-small pic-tabular", "end", fit(s.number(lang), right-8, sizeSmall))
}

func (s Service) number(lang *locale.Words) string {
	return lang.Say("pool.of", count(max(s.Used, 0)), count(max(s.Size, 0)))
}

func (m Machine) told(lang *locale.Words) string {
	parts := []string{}
	for _, s := range m.Services {
		parts = append(parts, lang.Say("drawn.slots", s.Name, count(s.Used), count(s.Size)))
	}
	if len(parts) == 0 {
		parts = append(parts, lang.Say("drawn.nothingyet"))
	}
	return m.Name + " (" + m.State.word(lang) + "): " + strings.Join(parts, ", ")
}
