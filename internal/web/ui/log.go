package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a-h/templ"
)

// logBytes is how much of a log a page shows: its end.
const logBytes = 256 << 10

// Log shows the output of a task as text. Colours of a terminal become classes;
// every other control sequence is left out, and nothing of it is ever HTML.
func Log(text, raw string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b bytes.Buffer
		cut := len(text) > logBytes
		if cut {
			text = text[len(text)-logBytes:]
			_, text, _ = strings.Cut(text, "\n")
		}
		b.WriteString(`<div class="log" translate="no" tabindex="0" role="group" aria-label="` + escape(Say(ctx,
			"ui.log")) + `">`)
		pen := ansi{out: &b}
		for line := range strings.Lines(text) {
			b.WriteString(`<span class="line">`)
			pen.line(strings.TrimRight(line, "\r\n"))
			b.WriteString("</span>")
		}
		b.WriteString(`</div>`)
		if cut {
			cutNote(ctx, &b, "ui.end", raw)
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

// ansi turns the colours of a terminal into classes. Its state goes on over the
// lines of a log.
type ansi struct {
	out  *bytes.Buffer
	bold bool
	// colour is 1 to 15 as terminals count, 0 the usual one.
	colour int
}

func (a *ansi) line(s string) {
	// A lone carriage return draws over the line: what came last is seen.
	if i := strings.LastIndexByte(s, '\r'); i >= 0 {
		s = s[i+1:]
	}
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			a.text(s)
			return
		}
		a.text(s[:i])
		s = a.sequence(s[i+1:])
	}
}

func (a *ansi) text(s string) {
	if s = graphic(s); s == "" {
		return
	}
	var classes []string
	if a.bold {
		classes = append(classes, "b")
	}
	if a.colour > 0 {
		classes = append(classes, "f"+strconv.Itoa(a.colour))
	}
	if len(classes) == 0 {
		a.out.WriteString(escape(s))
		return
	}
	fmt.Fprintf(a.out, `<span class="%s">%s</span>`, strings.Join(classes, " "), escape(s))
}

// graphic leaves out what cannot be seen.
func graphic(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// PlainLog is a log without colours and every other control sequence: a file of it
// may end up on a terminal.
func PlainLog(text string) string {
	var b strings.Builder
	pen := ansi{}
	for line := range strings.Lines(text) {
		for rest := strings.TrimRight(line, "\r\n"); rest != ""; {
			before, after, found := strings.Cut(rest, "\x1b")
			b.WriteString(graphic(before))
			if rest = ""; found {
				rest = pen.sequence(after)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sequence reads what follows an escape and returns the rest of the line.
func (a *ansi) sequence(s string) string {
	switch {
	case strings.HasPrefix(s, "["):
		end := strings.IndexFunc(s[1:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return ""
		}
		if s[1+end] == 'm' {
			a.style(s[1 : 1+end])
		}
		return s[2+end:]
	case strings.HasPrefix(s, "]"):
		// The title of a window, a link: up to a bell or an escape and a backslash.
		if i := strings.IndexAny(s, "\a\x1b"); i >= 0 {
			return strings.TrimPrefix(s[i+1:], `\`)
		}
		return ""
	case s == "":
		return ""
	}
	return s[1:]
}

func (a *ansi) style(params string) {
	codes := strings.Split(params, ";")
	if slices.Contains(codes, "38") || slices.Contains(codes, "48") {
		return // colours of one's own do not fit the theme
	}
	for _, code := range codes {
		n, _ := strconv.Atoi(code) // "" is 0: back to the usual
		switch {
		case n == 0:
			a.bold, a.colour = false, 0
		case n == 1:
			a.bold = true
		case n == 22:
			a.bold = false
		case n == 39:
			a.colour = 0
		case n >= 30 && n <= 37:
			a.colour = n - 30
		case n >= 90 && n <= 97:
			a.colour = n - 90 + 8
		}
	}
}
