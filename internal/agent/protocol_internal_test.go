package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/vault"
)

func TestParseLine(t *testing.T) {
	for line, want := range map[string]string{
		`::progress 40`:       `progress 40`,
		`::progress 12.5%`:    `progress 12.5`,
		`::progress 101`:      `error`,
		`::progress NaN`:      `error`,
		`::progress`:          `error`,
		`::result {"a": 1}`:   `result {"a": 1}`,
		`::result  null `:     `result null`,
		`::result {`:          `error`,
		`::result "\ud800"`:   `result "\ufffd"`,
		`::event info hello `: `event info hello`,
		`::event warn`:        `event warn `,
		`::event shout x`:     `error`,
		`::event`:             `error`,
		`::other`:             `error`,
		`::`:                  `error`,
	} {
		got := "error"
		s, err := parseLine([]byte(line))
		switch {
		case err != nil:
		case s.progress != nil:
			text, _ := json.Marshal(*s.progress)
			got = "progress " + string(text)
		case s.result != nil:
			got = "result " + string(s.result)
		case s.event != nil:
			got = "event " + s.event.level + " " + s.event.message
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// FuzzOutput checks that any output, in any pieces, becomes whole lines of valid JSON,
// and that no secret gets through.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("hello\n::progress 4\n::result {}\nhunter2hunter2\n"), 3)
	f.Add([]byte("::event warn \xff\x00\n\r\n::\n"), 1)
	f.Add(bytes.Repeat([]byte("x"), 100_000), 70_000)
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		if piece < 1 {
			piece = 1
		}
		const secret = "hunter2hunter2"
		o := newOutput(vault.NewMask(secret))
		check := func(s string) {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || strings.Contains(s, secret) {
				t.Errorf("got through: %q", s)
			}
		}
		o.note = func(level, message string) { check(level); check(message) }
		o.percent = func(p float64) {
			if !(p >= 0 && p <= 100) {
				t.Errorf("progress %v", p)
			}
		}
		for rest := text; len(rest) > 0; {
			n := min(piece, len(rest))
			_, _ = o.Stdout().Write(rest[:n])
			rest = rest[n:]
		}
		o.finish()
		for batch := o.take(1 << 10); len(batch) > 0; batch = o.take(1 << 10) {
			for _, e := range batch {
				var line struct{ Stream, Text string }
				if err := json.Unmarshal(e.text, &line); err != nil || e.text[len(e.text)-1] != '\n' {
					t.Errorf("%q: %v", e.text, err)
				}
				check(line.Text)
				if len(line.Text) > 4*lineMost {
					t.Errorf("a line of %d bytes", len(line.Text))
				}
			}
		}
		if result, _ := o.said(); result != nil {
			if !json.Valid(result) {
				t.Errorf("result %q", result)
			}
			check(string(result))
		}
		if o.out.done != int64(len(text)) {
			t.Errorf("%d of %d bytes are dealt with", o.out.done, len(text))
		}
	})
}
