package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/problem"
)

// Say is a text in the language of the page.
func Say(ctx context.Context, key string, values ...any) string {
	return locale.From(ctx).Say(key, values...)
}

// Count is a text with a number, in the language of the page.
func Count(ctx context.Context, key string, n int) string { return locale.From(ctx).Count(key, n) }

// Because is a reason in the language of the page; text is the reason in English.
func Because(ctx context.Context, r interface {
	In(language, text string) string
}, text string,
) string {
	return Line(r.In(locale.From(ctx).Code, text))
}

// Spoken is a problem in the language of the page.
func Spoken(ctx context.Context, p *problem.Problem) *problem.Problem {
	return p.In(locale.From(ctx).Code)
}

// Told is what a reader may know of an error, in the language of the page.
func Told(ctx context.Context, err error) *problem.Problem {
	p, _ := problem.Public(err)
	return Spoken(ctx, p)
}

// Code is what people call a code that begins with prefix among the words: a state, a gate,
// the type of an event. One that has no name, as of a newer server, is shown as it is.
func Code[C ~string](ctx context.Context, prefix string, code C) string {
	if prefix == "" || code == "" || !locale.From(ctx).Has(prefix+string(code)) {
		return Line(string(code))
	}
	return Say(ctx, prefix+string(code))
}

// Columns are the headings of a table, by the names of their words: name is word.name, and one
// with a dot is a whole key. A heading that ends in # holds numbers, and an empty one the
// actions of a row.
func Columns(ctx context.Context, names ...string) []Column {
	out := make([]Column, len(names))
	for i, name := range names {
		name, out[i].Number = strings.CutSuffix(name, "#")
		switch {
		case strings.Contains(name, "."):
			out[i].Label = Say(ctx, name)
		case name != "":
			out[i].Label = Say(ctx, "word."+name)
		}
	}
	return out
}

// Codes are choices whose words are found by their codes.
func Codes[C ~string](ctx context.Context, prefix string, values ...C) []Option {
	out := make([]Option, len(values))
	for i, v := range values {
		out[i] = Option{Value: string(v), Label: Code(ctx, prefix, string(v))}
	}
	return out
}

// scriptWords are the words that the module says, as JSON.
func scriptWords(ctx context.Context) string {
	words := map[string]string{}
	for name, key := range map[string]string{
		"s": "time.s", "m": "time.m", "h": "time.h", "d": "time.d", "two": "time.two",
		"now": "time.now", "in": "time.in", "ago": "time.ago", "paused": "ui.paused", "stale": "ui.stale",
		"live": "script.live", "reconnecting": "script.reconnecting", "offline": "script.offline",
		"fresh": "script.fresh", "updated": "script.updated", "copied": "script.copied",
	} {
		words[name] = Say(ctx, key)
	}
	text, _ := json.Marshal(words) // strings always marshal
	return string(text)
}

// cutNote says that a part is shown only, and where all of it is.
func cutNote(ctx context.Context, b *bytes.Buffer, key, raw string) {
	b.WriteString(`<p class="cut">` + escape(Say(ctx, key)))
	if raw != "" {
		b.WriteString(` <a href="` + escape(raw) + `">` + escape(Say(ctx, "ui.showall")) + `</a>.`)
	}
	b.WriteString(`</p>`)
}
