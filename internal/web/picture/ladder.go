package picture

import (
	"fmt"
	"slices"
)

// Levels is where a thing is and where it shall be, among levels that rise
// from cheap to ready.
type Levels struct {
	Title     string
	Steps     []string // from low to high; nil: archived, standby, running
	Has       string   // the level it is at; "": not known
	Want      string   // the level somebody wants; "": the one it has
	Operation string   // what goes on now: "restore"
	Note      string   // one line more: "stops in 20 min without activity"
}

// Ladder draws levels as steps. The one it is at is filled, the one it shall
// be at has a flag, and an arrow joins them.
func Ladder(in Levels) SVG {
	steps := in.Steps
	if len(steps) == 0 {
		steps = []string{"archived", "standby", "running"}
	}
	has, want := slices.Index(steps, in.Has), slices.Index(steps, in.Want)
	if want < 0 {
		want = has
	}
	const wide, high, gap, rise, top = 148.0, 40.0, 26.0, 20.0, 34.0
	n := float64(len(steps))
	base := top + rise*(n-1)
	x := func(i int) float64 { return 10 + (wide+gap)*float64(i) }
	y := func(i int) float64 { return base - rise*float64(i) }
	w, h := x(len(steps)-1)+wide+10, base+high+30
	var c canvas
	for i, s := range steps {
		class, under := "pic-step", ""
		switch {
		case i == has && i == want:
			class, under = class+" pic-step-has", "here, as wanted"
		case i == has:
			class, under = class+" pic-step-has", "here now"
		case i == want:
			class, under = class+" pic-step-want", "wanted"
		}
		if i > 0 {
			moving := has >= 0 && has != want && (i > min(has, want) && i <= max(has, want))
			c.rung(x(i-1)+wide, y(i-1)+high/2, x(i), y(i)+high/2, moving, want > has)
		}
		c.open("g", "class", class)
		c.leaf("rect", "x", x(i), "y", y(i), "width", wide, "height", high, "rx", 8)
		c.text(x(i)+wide/2, y(i)+25, "pic-name", "middle", fit(s, wide-16, sizeName))
		c.close("g")
		c.text(x(i)+wide/2, y(i)+high+16, "pic-small pic-muted", "middle", under)
		if i == want && has != want {
			c.leaf("path", "class", "pic-flag", "d", fmt.Sprintf("M%s %sv-20l14 5l-14 5", num(x(i)+wide-18), num(y(i))))
		}
	}
	say := fmt.Sprintf("It is at %s.", orTitle(in.Has, "a level that is not known"))
	if want >= 0 && want != has {
		say = fmt.Sprintf("It is at %s and shall be at %s.", orTitle(in.Has, "a level that is not known"), steps[want])
	}
	line := in.Note
	if in.Operation != "" {
		say += " Now: " + in.Operation + "."
		line = in.Operation
		if in.Note != "" {
			line += " · " + in.Note
		}
	}
	if line != "" {
		c.text(10, 16, "pic-text", "", fit(line, w*0.72, sizeText))
	}
	if in.Note != "" {
		say += " " + in.Note + "."
	}
	return c.seal(frame{class: "pic-ladder", w: w, h: h, title: orTitle(in.Title, "Level"), desc: say})
}

// rung joins two steps; on the way from the level that is to the one that
// shall be it is an arrow.
func (c *canvas) rung(x0, y0, x1, y1 float64, moving, up bool) {
	mid := (x0 + x1) / 2
	class := "pic-edge"
	if moving {
		class = "pic-rung"
	}
	c.leaf("path", "class", class, "d", fmt.Sprintf("M%s %sC%s %s %s %s %s %s", num(x0), num(y0), num(mid), num(y0), num(mid), num(y1), num(x1), num(y1)))
	switch {
	case moving && up:
		c.leaf("path", "class", "pic-rung-head", "d", fmt.Sprintf("M%s %sl-8 -4.5v9z", num(x1), num(y1)))
	case moving:
		c.leaf("path", "class", "pic-rung-head", "d", fmt.Sprintf("M%s %sl8 -4.5v9z", num(x0), num(y0)))
	}
}
