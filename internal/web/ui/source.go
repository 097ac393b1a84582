package ui

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// sourceBytes is how much of a text a page shows: its beginning.
const sourceBytes = 256 << 10

// Source shows a text that somebody wrote, with the numbers of its lines. Of a
// long one it shows the beginning; raw is the address of all of it, or empty.
func Source(text, raw string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b bytes.Buffer
		cut := len(text) > sourceBytes
		if cut {
			text = strings.ToValidUTF8(text[:sourceBytes], "")
		}
		b.WriteString(`<div class="log is-source" tabindex="0" role="group" aria-label="Source">`)
		for line := range strings.Lines(text) {
			b.WriteString(`<span class="line">` + escape(graphic(strings.TrimRight(line, "\r\n"))) + `</span>`)
		}
		b.WriteString(`</div>`)
		if cut {
			b.WriteString(`<p class="cut">Only the beginning is shown.`)
			if raw != "" {
				b.WriteString(` <a href="` + escape(raw) + `">Show all of it</a>.`)
			}
			b.WriteString(`</p>`)
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}
