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
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b bytes.Buffer
		cut := len(text) > sourceBytes
		if cut {
			text = strings.ToValidUTF8(text[:sourceBytes], "")
		}
		b.WriteString(`<div class="log is-source" translate="no" tabindex="0" role="group" aria-label="` +
			escape(Say(ctx, "ui.source")) + `">`)
		for line := range strings.Lines(text) {
			b.WriteString(`<span class="line">` + escape(graphic(strings.TrimRight(line, "\r\n"))) + `</span>`)
		}
		b.WriteString(`</div>`)
		if cut {
			cutNote(ctx, &b, "ui.beginning", raw)
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}
