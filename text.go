package weir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// textLimit is how much of an error or a stack is kept.
	textLimit = 8 << 10
	// resultLimit is how large a result may be.
	resultLimit = 16 << 20
)

// cleanText makes text that PostgreSQL takes: valid UTF-8, no NUL, not too long.
func cleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= textLimit {
		return s
	}
	cut := textLimit - 32
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s … (%d bytes cut)", s[:cut], len(s)-cut)
}

// encodeResult makes the JSON of what a handler returned; nil for nothing.
func encodeResult(v any) ([]byte, error) {
	var text []byte
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if text = cleanJSON(v); !json.Valid(text) {
			return nil, errors.New("the result is not valid JSON")
		}
	default:
		plain, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("the result does not become JSON: %w", err)
		}
		text = cleanJSON(plain)
	}
	if len(text) > resultLimit {
		return nil, fmt.Errorf("the result has %d bytes, over the limit of 16 MiB: put it into a bucket and return its key", len(text))
	}
	return text, nil
}

// cleanJSON replaces what JSON allows and jsonb does not: the escape of NUL,
// half of a surrogate pair, bytes that are not UTF-8. Most results have none of
// these and are returned as they are.
func cleanJSON(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if !bytes.Contains(text, []byte(`\u0000`)) && !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			i++
			continue
		}
		if text[i+1] != 'u' { // also an escaped backslash, after which u0000 is plain text
			out = append(out, text[i], text[i+1])
			i += 2
			continue
		}
		one, two := hexRune(text[i:]), rune(-1)
		if i+6 <= len(text) {
			two = hexRune(text[i+6:])
		}
		switch {
		case one >= 0xD800 && one < 0xDC00 && two >= 0xDC00 && two < 0xE000:
			out = append(out, text[i:i+12]...)
			i += 12
		case one == 0 || one >= 0xD800 && one < 0xE000:
			out = append(out, `\ufffd`...)
			i += 6
		default:
			out = append(out, text[i], text[i+1])
			i += 2
		}
	}
	return out
}

// hexRune reads \uXXXX at the start of text, or returns -1.
func hexRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return r
}
