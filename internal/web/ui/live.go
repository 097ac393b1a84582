package ui

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"

	"github.com/a-h/templ"
)

// Fragment is a part of a page that is sent again when it changed.
type Fragment struct {
	ID string `json:"id"`
	// Hash is of the HTML without the words of relative times, which the module
	// keeps fresh by itself.
	Hash string `json:"hash"`
	HTML string `json:"html"`
}

// Capture collects the live fragments of a page while it is rendered.
type Capture struct{ Fragments []Fragment }

type captureKey struct{}

// WithCapture makes the Live components of what is rendered next also write
// into c.
func WithCapture(ctx context.Context, c *Capture) context.Context {
	return context.WithValue(ctx, captureKey{}, c)
}

type insideKey struct{}

// Live wraps a part of a page that follows what happens. Its id is unique on the
// page. Live parts do not nest: one of them would be sent twice.
func Live(id string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if outer, ok := ctx.Value(insideKey{}).(string); ok {
			return fmt.Errorf("live fragment %s stands inside of %s", id, outer)
		}
		children := templ.GetChildren(ctx)
		ctx = context.WithValue(templ.ClearChildren(ctx), insideKey{}, id)
		var b bytes.Buffer
		if err := children.Render(ctx, &b); err != nil {
			return err
		}
		f := Fragment{ID: "live-" + id, Hash: hash(b.Bytes()), HTML: b.String()}
		if c, ok := ctx.Value(captureKey{}).(*Capture); ok {
			c.Fragments = append(c.Fragments, f)
		}
		_, err := fmt.Fprintf(w, `<div id="%s" data-live="%s">%s</div>`, templ.EscapeString(f.ID), f.Hash, f.HTML)
		return err
	})
}

var relative = regexp.MustCompile(`(<time [^>]*data-rel="[a-z]+">)[^<]*`)

func hash(html []byte) string {
	sum := sha256.Sum256(relative.ReplaceAll(html, []byte("$1")))
	return hex.EncodeToString(sum[:6])
}
