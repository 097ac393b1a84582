package vault

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// partLeast is the length from which on a part of a value is masked by itself. A
	// shorter part would mask unrelated words.
	partLeast = 8
	// formsMost is the length up to which a value is masked in all its forms. Longer
	// values are files; programs print them as they are, line by line or in base64.
	formsMost = 4096
	// The columns are where programs break lines of base64.
	mimeColumns, pemColumns = 76, 64
)

// forms returns the texts that reveal a value: itself, its lines, and how JSON, URLs,
// HTML, shells and base64 write it.
func forms(value string) []string {
	trimmed := strings.TrimSpace(value)
	if value == "" {
		return nil
	}
	all := map[string]bool{value: true}
	add := func(least int, texts ...string) {
		for _, t := range texts {
			if len(t) >= least {
				all[t] = true
			}
		}
	}
	add(1, trimmed)
	whole := []string{value}
	if trimmed != "" && trimmed != value {
		whole = append(whole, trimmed)
	}
	for _, text := range whole {
		add(1, quoted(text)...)
		add(partLeast, dumped(text)...)
		if len(text) <= formsMost {
			add(1, escaped(text)...)
		}
	}
	// A log has lines, and a program that prints a key prints many.
	for line := range strings.SplitSeq(strings.ReplaceAll(value, "\r", "\n"), "\n") {
		if line = strings.TrimSpace(line); len(line) >= partLeast && line != trimmed {
			add(1, line)
			add(1, quoted(line)...)
		}
	}
	out := make([]string, 0, len(all))
	for text := range all {
		out = append(out, text)
	}
	return out
}

// quoted returns strings of JSON and of programming languages, without the quotes.
func quoted(text string) []string {
	inside := func(s string) string { return s[1 : len(s)-1] }
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes as JSON
	withHTML, _ := json.Marshal(text)
	return []string{
		inside(strings.TrimSuffix(plain.String(), "\n")), inside(string(withHTML)),
		inside(strconv.Quote(text)), inside(strconv.QuoteToASCII(text)), asciiJSON(text),
		strings.ReplaceAll(text, `'`, `'\''`), strings.ReplaceAll(text, `'`, `'"'"'`),
		strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`), // a line break stays
		strings.ReplaceAll(inside(strings.TrimSuffix(plain.String(), "\n")), "/", `\/`),
	}
}

// asciiJSON returns JSON with ASCII only, as Python writes it.
func asciiJSON(text string) string {
	b, _ := json.Marshal(text)
	var out strings.Builder
	for _, r := range string(b[1 : len(b)-1]) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r <= 0xffff:
			out.WriteString(`\u` + hex4(r))
		default:
			r -= 0x10000
			out.WriteString(`\u` + hex4(0xd800+r>>10) + `\u` + hex4(0xdc00+r&0x3ff))
		}
	}
	return out.String()
}

func hex4(r rune) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", 4-len(s)) + s
}

// escaped returns the forms of URLs and of HTML.
func escaped(text string) []string {
	query, segment := url.QueryEscape(text), url.PathEscape(text)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	return []string{
		query, lowerHex(query), segment, lowerHex(segment), component, lowerHex(component), strings.ReplaceAll(query, "+", "%20"),
		(&url.URL{Path: text}).EscapedPath(), url.UserPassword("", text).String()[1:],
		html.EscapeString(text),
	}
}

// dumped returns the forms of byte dumps.
func dumped(text string) []string {
	digits := hex.EncodeToString([]byte(text))
	return append(inBase64(text), digits, strings.ToUpper(digits))
}

// lowerHex writes %2F as %2f.
func lowerHex(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// inBase64 returns the part of a value that is visible in the base64 of a text that
// contains it, for every alignment. The characters at both ends also depend on the
// neighboring text.
func inBase64(text string) []string {
	var out []string
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		whole := alphabet.EncodeToString([]byte(text))
		out = append(out, whole)
		for _, columns := range []int{mimeColumns, pemColumns} {
			for line := range slices.Chunk([]byte(whole), columns) {
				out = append(out, string(line))
			}
		}
		for shift := range 3 {
			padded := append(make([]byte, shift), text...)
			digits := alphabet.EncodeToString(padded)
			begin := (shift*8 + 5) / 6
			end := len(padded) * 8 / 6
			if begin < end {
				out = append(out, digits[begin:end])
			}
		}
	}
	return out
}
