package picture

// icon is drawn in a field of 16 × 16 with its middle at 8, 8. body has the
// colour of the state; mark lies on it, in the colour of the ground when the
// body is filled.
type icon struct {
	body   string
	filled bool
	mark   string
}

const disc = "M8 1a7 7 0 1 1 0 14a7 7 0 1 1 0-14z"

// The outlines differ as much as the marks: solid discs for what a worker
// did, an octagon for what failed, rings for what has not happened.
var icons = map[string]icon{
	"clock": {disc, false, "M8 4.5V8l2.5 1.8"},
	"dot":   {disc, false, "M8 6.5a1.5 1.5 0 1 1 0 3a1.5 1.5 0 1 1 0-3z"},
	"play":  {disc, true, "M6.5 5l5 3l-5 3z"},
	"check": {disc, true, "M4.8 8.2l2.2 2.2l4.3-4.6"},
	"cross": {"M5 1h6l4 4v6l-4 4H5l-4-4V5z", true, "M5.5 5.5l5 5M10.5 5.5l-5 5"},
	"slash": {disc, false, "M4 12L12 4"},
	"skip":  {disc, false, "M5 5.5l2.8 2.5L5 10.5M8.7 5.5l2.8 2.5l-2.8 2.5"},
	"again": {"M5 1h6l4 4v6l-4 4H5l-4-4V5z", false, "M11 8a3 3 0 1 1-1-2.2M10.6 4v2.2H8.4"},
	"alarm": {"M8 1.5L15 14.5H1z", true, "M8 6v4.2M8 12.2v.6"},
	"back":  {disc, false, "M11.5 8H4.8M7.3 5.3L4.6 8l2.7 2.7"},
	"ring":  {disc, false, ""},
}

// icon draws the icon of a state with its upper left corner at x, y.
func (c *canvas) icon(l look, x, y, size float64) {
	i := icons[l.icon]
	body, mark := "pic-icon", "pic-icon"
	if i.filled {
		body, mark = "pic-icon-full", "pic-icon-mark"
	}
	at := "translate(" + num(x) + " " + num(y) + ")"
	if size != 16 {
		at += " scale(" + scale(size/16) + ")"
	}
	c.open("g", "class", l.class, "transform", at)
	c.leaf("path", "class", body, "d", i.body)
	if i.mark != "" {
		c.leaf("path", "class", mark, "d", i.mark)
	}
	c.close("g")
}
