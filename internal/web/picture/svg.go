package picture

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
)

// SVG is a finished picture: markup whose every text is escaped, so a page
// may hold it as it is. It is a templ.Component.
type SVG string

// Render writes the picture into a page.
func (s SVG) Render(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, string(s))
	return err
}

// canvas collects markup. Every attribute and every text passes through
// escape, so no caller can forget it.
type canvas struct {
	b     strings.Builder
	links int // <a> elements drawn so far
}

// open starts an element. attrs are pairs of name and value; a value is a
// string, an int or a float64. An empty string leaves its attribute out.
func (c *canvas) open(tag string, attrs ...any) {
	c.tag(tag, attrs)
	c.b.WriteByte('>')
}

// leaf writes an element without content.
func (c *canvas) leaf(tag string, attrs ...any) {
	c.tag(tag, attrs)
	c.b.WriteString("/>\n")
}

func (c *canvas) tag(tag string, attrs []any) {
	c.b.WriteByte('<')
	c.b.WriteString(tag)
	for i := 0; i+1 < len(attrs); i += 2 {
		if s, ok := attrs[i+1].(string); ok && s == "" {
			continue
		}
		c.b.WriteByte(' ')
		c.b.WriteString(attrs[i].(string))
		c.b.WriteString(`="`)
		switch v := attrs[i+1].(type) {
		case string:
			c.write(v)
		case int:
			c.b.WriteString(strconv.Itoa(v))
		case float64:
			var digits [24]byte
			c.b.Write(appendNum(digits[:0], v))
		}
		c.b.WriteByte('"')
	}
}

// write adds one line of text, escaped.
func (c *canvas) write(s string) {
	if plain(s) {
		c.b.WriteString(s)
		return
	}
	c.b.WriteString(escape(s))
}

func (c *canvas) close(tag string) {
	c.b.WriteString("</")
	c.b.WriteString(tag)
	c.b.WriteString(">\n")
}

// title is the tooltip of the element it stands in, and what a screen reader
// says of it. Lines stay lines.
func (c *canvas) title(s string) {
	c.b.WriteString("<title>")
	c.b.WriteString(escapeLines(s))
	c.b.WriteString("</title>")
}

// text writes s with its baseline at y. anchor is "", "middle" or "end".
func (c *canvas) text(x, y float64, class, anchor, s string) {
	if s == "" {
		return
	}
	c.open("text", "x", x, "y", y, "class", class, "text-anchor", anchor)
	c.write(s)
	c.close("text")
}

// link opens an <a> if href leads somewhere safe, and says how to close it.
func (c *canvas) link(href, class string) (end func()) {
	if !safeHref(href) {
		c.open("g", "class", class)
		return func() { c.close("g") }
	}
	c.links++
	c.open("a", "href", href, "class", class)
	return func() { c.close("a") }
}

// safeHref admits pages of this server and plain web addresses: a key that
// somebody submitted must never become a script.
func safeHref(href string) bool {
	switch {
	case strings.ContainsAny(href, "\\\t\r\n"):
		return false
	case strings.HasPrefix(href, "//"):
		return false
	case strings.HasPrefix(href, "/"), strings.HasPrefix(href, "?"), strings.HasPrefix(href, "#"):
		return true
	}
	return strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://")
}

// frame is the outside of a picture.
type frame struct {
	class string
	w, h  float64
	title string // the name a screen reader says first
	desc  string // the same facts in words
	grow  bool   // fills the width of its place instead of keeping its own
}

// seal puts the frame around what was drawn. A picture with links is a group
// to a screen reader, because the links inside an img cannot be reached.
func (c *canvas) seal(f frame) SVG {
	out := canvas{}
	out.b.Grow(c.b.Len() + len(f.desc) + 1024)
	role := "img"
	if c.links > 0 {
		role = "group"
	}
	class := "pic " + f.class
	if f.grow {
		class += " pic-grow " + maxWidth(f.w)
	} else {
		class += " " + minWidth(f.w)
	}
	out.open("svg", "xmlns", "http://www.w3.org/2000/svg", "class", class, "role", role, "direction", "ltr",
		"viewBox", "0 0 "+num(f.w)+" "+num(f.h), "width", f.w, "height", f.h)
	out.title(f.title)
	if f.desc != "" {
		out.b.WriteString("<desc>")
		out.b.WriteString(escapeLines(f.desc))
		out.b.WriteString("</desc>")
	}
	out.b.WriteByte('\n')
	out.b.WriteString(c.b.String())
	out.b.WriteString("</svg>")
	return SVG(out.b.String())
}

// minWidth is the class that stops a picture from shrinking until its text is
// unreadable: it keeps about four fifths of its width and scrolls from there.
func minWidth(w float64) string {
	step := int(w * 0.8 / 100)
	switch {
	case step < 2:
		return "pic-min-0"
	case step > 12:
		return "pic-full"
	}
	return "pic-min-" + strconv.Itoa(step)
}

// maxWidth is the class that stops a picture from growing until its text
// shouts: at most a third over its own width.
func maxWidth(w float64) string {
	step := int(w * 1.35 / 100)
	if step > 16 {
		return ""
	}
	return "pic-max-" + strconv.Itoa(max(step, 3))
}

// scroll puts a picture that may be wider than its place into a region that
// scrolls, also by keyboard.
func scroll(label string, s SVG) SVG {
	out := canvas{}
	out.open("div", "class", "pic-scroll", "tabindex", "0", "role", "region", "aria-label", label)
	out.b.WriteByte('\n')
	out.b.WriteString(string(s))
	out.close("div")
	return SVG(strings.TrimSuffix(out.b.String(), "\n"))
}

// num writes a coordinate: one decimal, and never NaN or infinite, which would
// make a browser drop the element.
func num(v float64) string { return string(appendNum(nil, v)) }

func appendNum(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.Abs(v) > 1e9 {
		return append(b, '0')
	}
	tenths := int64(math.Round(v * 10))
	if tenths < 0 {
		b, tenths = append(b, '-'), -tenths
	}
	b = strconv.AppendInt(b, tenths/10, 10)
	if tenths %= 10; tenths > 0 {
		b = append(b, '.', byte('0'+tenths))
	}
	return b
}
