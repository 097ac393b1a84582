package ui

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/weirhq/weir/internal/locale"
)

// say is a text in the language of the page.
func say(ctx context.Context, key string, values ...any) string {
	return locale.From(ctx).Say(key, values...)
}

// Code is what people call a code that begins with prefix among the words: a state, a gate,
// the type of an event. One that has no name, as of a newer server, is shown as it is.
func Code[C ~string](ctx context.Context, prefix string, code C) string {
	if prefix == "" || code == "" || !locale.From(ctx).Has(prefix+string(code)) {
		return string(code)
	}
	return say(ctx, prefix+string(code))
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
		words[name] = say(ctx, key)
	}
	text, _ := json.Marshal(words) // strings always marshal
	return string(text)
}

// cutNote says that a part is shown only, and where all of it is.
func cutNote(ctx context.Context, b *bytes.Buffer, key, raw string) {
	b.WriteString(`<p class="cut">` + escape(say(ctx, key)))
	if raw != "" {
		b.WriteString(` <a href="` + escape(raw) + `">` + escape(say(ctx, "ui.showall")) + `</a>.`)
	}
	b.WriteString(`</p>`)
}
