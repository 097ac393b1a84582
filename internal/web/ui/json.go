package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/a-h/templ"
)

const (
	// jsonBytes is how much JSON a page shows; more is behind the link to all of it.
	jsonBytes = 64 << 10
	// jsonOpen is how deep the viewer is open at first.
	jsonOpen = 2
	jsonDeep = 64
	// commaHere holds the place of a comma. No text has it: JSON escapes it.
	commaHere = "\x00"
)

// JSON shows a value, pretty and folded where it is deep. Of a large one it
// shows the beginning as text; raw is the address of all of it, or empty.
func JSON(value json.RawMessage, raw string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b bytes.Buffer
		switch {
		case len(bytes.TrimSpace(value)) == 0:
			b.WriteString(`<span class="muted">–</span>`)
		case len(value) > jsonBytes:
			cutText(ctx, &b, string(value), raw)
		default:
			decoder := json.NewDecoder(bytes.NewReader(value))
			decoder.UseNumber()
			var viewed bytes.Buffer
			if err := jsonValue(ctx, &viewed, decoder, 0, ""); err != nil {
				cutText(ctx, &b, string(value), raw)
				break
			}
			b.WriteString(`<div class="json" translate="no" tabindex="0" role="group" aria-label="JSON">`)
			b.Write(viewed.Bytes())
			b.WriteString(`</div>`)
		}
		_, err := w.Write(b.Bytes())
		return err
	})
}

func cutText(ctx context.Context, b *bytes.Buffer, s, raw string) {
	cut := len(s) > jsonBytes
	if cut {
		s = s[:jsonBytes]
	}
	b.WriteString(`<div class="json" translate="no" tabindex="0">` + escape(s) + `</div>`)
	if cut {
		cutNote(ctx, b, "ui.beginning", raw)
	}
}

// jsonValue writes the next value of the decoder. Tail is what follows it on
// the same line.
func jsonValue(ctx context.Context, b *bytes.Buffer, d *json.Decoder, depth int, tail string) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	switch v := token.(type) {
	case json.Delim:
		return jsonNested(ctx, b, d, v, depth, tail)
	case string:
		text, _ := json.Marshal(v) // a string always marshals
		b.WriteString(`<span class="s">` + escape(unescapeHTML(string(text))) + `</span>`)
	case json.Number:
		b.WriteString(`<span class="n">` + escape(v.String()) + `</span>`)
	case bool:
		fmt.Fprintf(b, `<span class="w">%t</span>`, v)
	case nil:
		b.WriteString(`<span class="w">null</span>`)
	}
	b.WriteString(tail)
	return nil
}

func jsonNested(ctx context.Context, b *bytes.Buffer, d *json.Decoder, open json.Delim, depth int, tail string) error {
	if depth > jsonDeep {
		return fmt.Errorf("the JSON is nested deeper than %d", jsonDeep)
	}
	shut, unit := "]", "json.items"
	if open == '{' {
		shut, unit = "}", "json.fields"
	}
	var kids bytes.Buffer
	n := 0
	for d.More() {
		kids.WriteString(`<span class="item">`)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("read JSON: %w", err)
			}
			text, _ := json.Marshal(key) // a string always marshals
			kids.WriteString(`<span class="k">` + escape(unescapeHTML(string(text))) + `</span>: `)
		}
		// Whether a comma follows is known only after the value, whose end may be
		// deep inside of its markup.
		var one bytes.Buffer
		if err := jsonValue(ctx, &one, d, depth+1, commaHere); err != nil {
			return err
		}
		comma := ""
		if d.More() {
			comma = ","
		}
		kids.Write(bytes.ReplaceAll(one.Bytes(), []byte(commaHere), []byte(comma)))
		kids.WriteString(`</span>`)
		n++
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	if n == 0 {
		b.WriteString(open.String() + shut + tail)
		return nil
	}
	attribute := ""
	if depth < jsonOpen {
		attribute = " open"
	}
	fmt.Fprintf(b, `<details%s><summary data-size="%s">%s<span class="shut"> %s%s</span></summary><span class="kids">%s</span>%s%s</details>`,
		attribute, Say(ctx, unit, n), open, shut, tail, kids.Bytes(), shut, tail)
	return nil
}

// unescapeHTML takes back what Marshal does to &, < and >; they are escaped for
// the page, once.
func unescapeHTML(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	var plain string
	if json.Unmarshal([]byte(s), &plain) != nil || encoder.Encode(plain) != nil {
		return s
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func escape(s string) string { return templ.EscapeString(s) }
