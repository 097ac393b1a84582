package fleetpages

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// pcsShown is how many PCs a page of the grid has: each is a live part of its
	// own, so that a freed slot sends one row and not all of them.
	pcsShown = 50
	// cellsShown is how many cells a row has; a PC may have a thousand slots.
	cellsShown = 60
)

// cell is one slot of a PC, or one device.
type cell struct {
	// kind is the word for what it is: running, retry, check, free, none, or the
	// health of a device.
	kind, class string
	// text is what stands in it. Minutes are a part of that, or empty; a sign says
	// without a colour that it is another attempt (↻) or a health task (?).
	text, minutes string
	key, href     string
	serial, note  string
}

// gridRow is a PC of the grid.
type gridRow struct {
	fleet.PC
	cells []cell
	// more counts the cells that are not shown.
	more int
}

// gridView is the grid.
type gridView struct {
	rows   []gridRow
	active []fleet.Job
	// sum counts all PCs, not only those of the page.
	sum     fleet.Sum
	filter  fleet.PCFilter
	healths []site.Chip
	shows   []site.Chip
	submit  bool

	newest, older string
}

func (v gridView) filtered() bool { return v.filter != fleet.PCFilter{} }

// trouble is the word of the address for PCs that want a look.
const trouble = "trouble"

func (w *pages) fleetGrid(r *site.Request, store *fleet.Store) (site.View, error) {
	ctx := r.Context()
	health, err := r.OneOf("health", fleet.Healths)
	if err != nil {
		return site.View{}, err
	}
	show, err := r.OneOf("show", []string{trouble})
	if err != nil {
		return site.View{}, err
	}
	v := gridView{
		filter:  fleet.PCFilter{Search: r.Query("pc"), Health: health, Trouble: show == trouble},
		healths: site.Chips(r, "health", "health.", fleet.Healths, health), shows: shows(r, show),
		submit: fleetRightsOf(r).submit,
	}
	if v.sum, err = store.Sum(ctx); err != nil {
		return site.View{}, err
	}
	if v.active, err = store.Active(ctx); err != nil {
		return site.View{}, err
	}
	pcs, err := store.PCPage(ctx, v.filter, view.Page{Limit: pcsShown + 1, After: r.Query("after")})
	if err != nil {
		return site.View{}, err
	}
	next := ""
	if len(pcs) > pcsShown {
		pcs, next = pcs[:pcsShown], pcs[pcsShown-1].Name
	}
	v.newest, v.older = site.Paging(r, next)
	if health != "" {
		err = v.byHealth(r, store, pcs)
	} else {
		err = v.bySlot(r, store, pcs)
	}
	if err != nil {
		return site.View{}, err
	}
	return site.View{Body: gridPage(v)}, nil
}

// shows are the choices between all PCs and those that want a look.
func shows(r *site.Request, show string) []site.Chip {
	out := site.Chips(r, "show", "", nil, show)
	return append(out, site.Chip{Label: ui.Say(r.Context(), "fleet.show.trouble"), Href: ui.With(r.URL, "show", trouble, "after", ""), Current: show == trouble})
}

func namesOf(pcs []fleet.PC) []string {
	names := make([]string, len(pcs))
	for i, p := range pcs {
		names[i] = p.Name
	}
	return names
}

// bySlot fills the grid with the slots of a page of PCs.
func (v *gridView) bySlot(r *site.Request, store *fleet.Store, pcs []fleet.PC) error {
	all, err := store.SlotsOf(r.Context(), namesOf(pcs))
	if err != nil {
		return err
	}
	busy := map[string][]fleet.Slot{}
	for _, s := range all {
		busy[s.PC] = append(busy[s.PC], s)
	}
	if v.sum.PCs == len(pcs) {
		v.sum.Running = len(all) // as of the cells, which are read after the sum
	}
	for _, p := range pcs {
		v.rows = append(v.rows, slotRow(r.Context(), p, busy[p.Name], r.Now))
	}
	return nil
}

// slotRow is a PC with its slots: what runs, the longest first, then the slots that
// wait for work, then those that no device can fill.
func slotRow(ctx context.Context, p fleet.PC, busy []fleet.Slot, now time.Time) gridRow {
	row := gridRow{PC: p}
	row.Running = len(busy)
	for _, s := range busy {
		c := cell{kind: "running", class: "is-running", minutes: ui.Number(minutesOf(now, s.ClaimedAt)), key: s.Serial, href: devicePath(s.Serial), serial: ui.Line(s.Serial)}
		c.text, c.note = c.minutes, ui.Cut(ui.Line(s.JobName), 60)
		switch {
		case s.Job.IsZero():
			c.kind, c.class, c.text, c.note = "check", "is-available", "?"+c.minutes, ui.Say(ctx, "cell.check.text")
		case s.Attempt > 1:
			c.kind, c.class, c.text = "retry", "is-unknown", "↻"+c.minutes
			c.note += ", " + ui.Say(ctx, "task.attempt", s.Attempt)
		}
		row.cells = append(row.cells, c)
	}
	for i := len(row.cells); i < min(p.Slots, cellsShown); i++ {
		c := cell{kind: "none", class: "is-none"}
		if i < p.Target {
			c = cell{kind: "free", class: "is-free"}
		}
		row.cells = append(row.cells, c)
	}
	row.cut(max(p.Slots, len(busy)))
	return row
}

// cut bounds a row that has so many cells in all.
func (g *gridRow) cut(all int) {
	g.cells = g.cells[:min(len(g.cells), cellsShown)]
	g.more = all - len(g.cells)
}

// byHealth fills the grid with the devices of a page of PCs that are so. Those that
// hang on no PC come first.
func (v *gridView) byHealth(r *site.Request, store *fleet.Store, pcs []fleet.PC) error {
	ctx := r.Context()
	if r.Query("after") == "" && v.filter.Search == "" && v.sum.WithoutPC > 0 {
		pcs = append([]fleet.PC{{}}, pcs...)
	}
	found, err := store.DevicesOf(ctx, namesOf(pcs), v.filter.Health, cellsShown+1)
	if err != nil {
		return err
	}
	by := map[string][]cell{}
	for _, d := range found {
		by[d.PC] = append(by[d.PC], deviceCell(ctx, d, r.Now))
	}
	for _, p := range pcs {
		if cells := by[p.Name]; len(cells) > 0 {
			row := gridRow{PC: p, cells: cells}
			row.cut(len(cells))
			v.rows = append(v.rows, row)
		}
	}
	return nil
}

// deviceCell is a device as a cell: its serial, and minutes while it works.
func deviceCell(ctx context.Context, d fleet.Device, now time.Time) cell {
	c := cell{kind: d.Health, class: "is-device " + site.LookOf(deviceLooks, d.Health).Class, text: ui.Cut(ui.Line(d.Serial), 24), key: d.Serial, href: devicePath(d.Serial), serial: ui.Line(d.Serial), note: ui.Cut(cmp.Or(ui.Because(ctx, d.Reason, d.Why), ui.Line(d.HealthNote)), 120)}
	switch {
	case d.ClaimedAt != nil:
		c.minutes = ui.Number(minutesOf(now, *d.ClaimedAt))
		c.text += " · " + c.minutes
		c.note = strings.TrimPrefix(c.note+", "+ui.Say(ctx, "cell.running"), ", ")
	case !d.Online:
		c.class += " is-away"
		c.text = "× " + c.text
	}
	return c
}

// said is a cell in words.
func (c cell) said(ctx context.Context, nth int) string {
	out := ui.Say(ctx, "cell.slot", nth) + ": "
	if c.serial != "" {
		out = c.serial + ": "
	}
	if _, known := deviceLooks[c.kind]; known {
		out += ui.Code(ctx, "health.", c.kind)
	} else {
		out += ui.Code(ctx, "cell.", c.kind)
	}
	if c.minutes != "" {
		out += ", " + ui.Say(ctx, "cell.minutes", c.minutes)
	}
	if c.note != "" {
		out += ". " + c.note
	}
	return out
}
