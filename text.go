package weir

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weirhq/weir/internal/pgtext"
)

const (
	// textLimit is how much of an error or a stack is kept.
	textLimit = 8 << 10
	// resultLimit is how large a result may be.
	resultLimit = 16 << 20
)

// cleanText makes text that PostgreSQL takes: valid UTF-8, no NUL, not too long.
func cleanText(s string) string {
	if s = pgtext.Text(s); len(s) > textLimit {
		return pgtext.Cut(s, textLimit-32)
	}
	return s
}

// encodeResult makes the JSON of what a handler returned; nil for nothing.
func encodeResult(v any) ([]byte, error) {
	var text []byte
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		if text = pgtext.JSON(v); !json.Valid(text) {
			return nil, errors.New("the result is not valid JSON")
		}
	default:
		plain, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("the result does not become JSON: %w", err)
		}
		text = pgtext.JSON(plain)
	}
	if len(text) > resultLimit {
		return nil, fmt.Errorf("the result has %d bytes, over the limit of 16 MiB: put it into a bucket and return its key", len(text))
	}
	return text, nil
}
