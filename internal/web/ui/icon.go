package ui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// icons are drawn on a square of 16, in strokes of the text's colour.
var icons = map[string]string{
	"weir":        `<path d="M1.5 5.2c1.6-1.4 3.1-1.4 4.6 0s3 1.4 4.5 0 2.6-1.2 3.9-.4M1.5 11c1.6-1.4 3.1-1.4 4.6 0s3 1.4 4.5 0 2.6-1.2 3.9-.4M8 1.5v13"/>`,
	"overview":    `<rect x="2" y="2" width="5" height="6" rx="1"/><rect x="9" y="2" width="5" height="4" rx="1"/><rect x="2" y="10" width="5" height="4" rx="1"/><rect x="9" y="8" width="5" height="6" rx="1"/>`,
	"job":         `<circle cx="3.5" cy="8" r="1.5"/><circle cx="12.5" cy="3.5" r="1.5"/><circle cx="12.5" cy="12.5" r="1.5"/><path d="M5 8h2.5M11 3.5H9.5c-1.1 0-2 .9-2 2v5c0 1.1.9 2 2 2H11"/>`,
	"workflow":    `<rect x="1.5" y="6" width="4.5" height="4" rx="1"/><rect x="10" y="1.8" width="4.5" height="4" rx="1"/><rect x="10" y="10.2" width="4.5" height="4" rx="1"/><path d="M6 8h2M10 3.8H9a1 1 0 0 0-1 1v6.4a1 1 0 0 0 1 1h1"/>`,
	"artifact":    `<path d="M9.5 1.8H4A1.5 1.5 0 0 0 2.5 3.3v9.4A1.5 1.5 0 0 0 4 14.2h8a1.5 1.5 0 0 0 1.5-1.5V5.8ZM9.5 1.8v4h4"/>`,
	"download":    `<path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11"/>`,
	"task":        `<rect x="2" y="2" width="12" height="12" rx="2.5"/><path d="m5.2 8.2 2 2 3.6-4"/>`,
	"pool":        `<path d="M8 1.8c2.6 3 4.2 5.2 4.2 7.6a4.2 4.2 0 0 1-8.4 0C3.8 7 5.4 4.8 8 1.8Z"/>`,
	"node":        `<rect x="2" y="2.5" width="12" height="4.5" rx="1.2"/><rect x="2" y="9" width="12" height="4.5" rx="1.2"/><path d="M4.8 4.75h.01M4.8 11.25h.01"/>`,
	"timeline":    `<path d="M1.5 8h3l2-5 3 10 2-5h3"/>`,
	"schedule":    `<rect x="2" y="3" width="12" height="11" rx="2"/><path d="M2 6.5h12M5.5 1.5v3M10.5 1.5v3"/>`,
	"trigger":     `<path d="M9 1.5 3.5 9H8l-1 5.5L12.5 7H8Z"/>`,
	"health":      `<path d="M8 13.5 2.9 8.4a3.2 3.2 0 0 1 4.5-4.5l.6.6.6-.6a3.2 3.2 0 0 1 4.5 4.5Z"/>`,
	"users":       `<circle cx="6" cy="5.2" r="2.6"/><path d="M1.5 13.5c.4-2.6 2.2-4 4.5-4s4.1 1.4 4.5 4M10.6 2.9a2.6 2.6 0 0 1 0 4.6M12.3 9.9c1.2.6 2 1.8 2.2 3.6"/>`,
	"user":        `<circle cx="8" cy="5.2" r="2.8"/><path d="M2.8 14c.5-2.8 2.5-4.3 5.2-4.3s4.7 1.5 5.2 4.3"/>`,
	"key":         `<circle cx="5" cy="11" r="3"/><path d="m7.2 8.8 6.3-6.3M11 5l2 2M9 7l1.5 1.5"/>`,
	"settings":    `<path d="M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7"/><circle cx="11" cy="4.5" r="1.8"/><circle cx="5" cy="11.5" r="1.8"/>`,
	"search":      `<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>`,
	"menu":        `<path d="M2 4h12M2 8h12M2 12h12"/>`,
	"logout":      `<path d="M6 2.5H4A1.5 1.5 0 0 0 2.5 4v8A1.5 1.5 0 0 0 4 13.5h2M10.5 11l3-3-3-3M13.5 8H6.5"/>`,
	"login":       `<path d="M10 2.5h2A1.5 1.5 0 0 1 13.5 4v8a1.5 1.5 0 0 1-1.5 1.5h-2M6.5 11l3-3-3-3M9.5 8h-7"/>`,
	"help":        `<circle cx="8" cy="8" r="6"/><path d="M6.2 6.3c.2-1 .9-1.5 1.9-1.5 1.1 0 1.9.7 1.9 1.6 0 1.4-1.9 1.5-1.9 2.8M8.1 11.3h.01"/>`,
	"copy":        `<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 3.5V3A1.5 1.5 0 0 0 9 1.5H4A2.5 2.5 0 0 0 1.5 4v5A1.5 1.5 0 0 0 3 10.5h.5"/>`,
	"check":       `<path d="m3 8.5 3.3 3.3L13 4.7"/>`,
	"close":       `<path d="m4 4 8 8M12 4l-8 8"/>`,
	"alert":       `<path d="M8 2 14.5 13.5h-13ZM8 6.5v3.2M8 11.7h.01"/>`,
	"info":        `<circle cx="8" cy="8" r="6"/><path d="M8 7.5v3.5M8 5.2h.01"/>`,
	"sun":         `<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7"/>`,
	"moon":        `<path d="M13.5 9.7A6 6 0 0 1 6.3 2.5a6 6 0 1 0 7.2 7.2Z"/>`,
	"screen":      `<rect x="1.8" y="2.5" width="12.4" height="8.5" rx="1.5"/><path d="M5.5 14h5M8 11v3"/>`,
	"live":        `<circle cx="8" cy="8" r="2" fill="currentColor"/><path d="M4.2 11.8a5.4 5.4 0 0 1 0-7.6M11.8 4.2a5.4 5.4 0 0 1 0 7.6"/>`,
	"offline":     `<path d="M2 2l12 12M4.2 4.2a5.4 5.4 0 0 0 0 7.6M11.8 11.8a5.4 5.4 0 0 0 0-7.6"/>`,
	"plus":        `<path d="M8 3v10M3 8h10"/>`,
	"trash":       `<path d="M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4M6.6 7v4M9.4 7v4"/>`,
	"retry":       `<path d="M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.8v3h-3"/>`,
	"play":        `<path d="M4.5 2.8v10.4L13 8Z"/>`,
	"pause":       `<path d="M5.5 3v10M10.5 3v10"/>`,
	"stop":        `<rect x="3.5" y="3.5" width="9" height="9" rx="1.5"/>`,
	"lock":        `<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.2 7V4.8a2.8 2.8 0 0 1 5.6 0V7"/>`,
	"left":        `<path d="m10 3.5-4.5 4.5L10 12.5"/>`,
	"right":       `<path d="m6 3.5 4.5 4.5L6 12.5"/>`,
	"up":          `<path d="m3.5 10 4.5-4.5L12.5 10"/>`,
	"down":        `<path d="m3.5 6 4.5 4.5L12.5 6"/>`,
	"link":        `<path d="M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9.5v3a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1h3"/>`,
	"gate":        `<path d="M2.5 14V3.5M13.5 14V3.5M2.5 5.5h11M2.5 9.5h11M6.2 5.5v4M9.8 5.5v4"/>`,
	"worker":      `<rect x="4" y="4" width="8" height="8" rx="1.5"/><path d="M6.5 1.5V4M9.5 1.5V4M6.5 12v2.5M9.5 12v2.5M1.5 6.5H4M1.5 9.5H4M12 6.5h2.5M12 9.5h2.5"/>`,
	"database":    `<ellipse cx="8" cy="3.8" rx="5" ry="2"/><path d="M3 3.8v8.4c0 1.1 2.2 2 5 2s5-.9 5-2V3.8M3 8c0 1.1 2.2 2 5 2s5-.9 5-2"/>`,
	"rollout":     `<rect x="1.8" y="2.5" width="3.4" height="11" rx="1"/><rect x="6.3" y="2.5" width="3.4" height="8" rx="1"/><rect x="10.8" y="2.5" width="3.4" height="5" rx="1"/>`,
	"fleet":       `<rect x="1.8" y="2" width="3.4" height="3.4" rx=".8"/><rect x="6.3" y="2" width="3.4" height="3.4" rx=".8"/><rect x="10.8" y="2" width="3.4" height="3.4" rx=".8"/><rect x="1.8" y="10.6" width="3.4" height="3.4" rx=".8"/><rect x="6.3" y="10.6" width="3.4" height="3.4" rx=".8"/><path d="M1.8 8h12.4"/>`,
	"workspace":   `<path d="M2 7.2 8 2.2l6 5V13a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1Z"/><path d="m5.3 8.2 1.8 1.6-1.8 1.6M8.6 11.4h2.2"/>`,
	"terminal":    `<rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1.4"/><path d="m4.6 6 2 2-2 2M8.4 10.2h3"/>`,
	"device":      `<rect x="4.5" y="1.5" width="7" height="13" rx="1.5"/><path d="M7.2 12.2h1.6"/>`,
	"not-started": `<circle cx="8" cy="8" r="6"/>`,
	"pending":     `<circle cx="8" cy="8" r="6"/><path d="M8 4.8V8l2 1.5"/>`,
	"available":   `<circle cx="8" cy="8" r="6" stroke-dasharray="2.6 2.1"/>`,
	"running":     `<path d="M8 2a6 6 0 1 1-6 6"/>`,
	"done":        `<circle cx="8" cy="8" r="6"/><path d="m5.3 8.2 1.9 1.9 3.5-3.9"/>`,
	"failed":      `<circle cx="8" cy="8" r="6"/><path d="m6 6 4 4M10 6l-4 4"/>`,
	"canceled":    `<circle cx="8" cy="8" r="6"/><path d="m3.8 12.2 8.4-8.4"/>`,
	"skipped":     `<path d="M3 3.5v9L9 8ZM12 3.5v9"/>`,
	"held":        `<circle cx="8" cy="8" r="6"/><path d="M6.5 6v4M9.5 6v4"/>`,
}

// Icon shows an icon of the sprite. It is decoration: words stand beside it.
func Icon(name string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if _, ok := icons[name]; !ok {
			return fmt.Errorf("no icon is called %s", name)
		}
		_, err := io.WriteString(w, `<svg class="icon" aria-hidden="true"><use href="#i-`+name+`"></use></svg>`)
		return err
	})
}

// sprite is every icon once; Icon refers to it.
var sprite = func() string {
	names := make([]string, 0, len(icons))
	for name := range icons {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(`<svg hidden aria-hidden="true">`)
	for _, name := range names {
		b.WriteString(`<symbol id="i-` + name + `" viewBox="0 0 16 16">` + icons[name] + `</symbol>`)
	}
	b.WriteString(`</svg>`)
	return b.String()
}()
