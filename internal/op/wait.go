package op

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/weirhq/weir/internal/period"
)

// Wait is a duration in JSON that may be zero: "20m", "30d", "0s".
type Wait time.Duration

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(w).String()) }

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Wait) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		return errors.New("expected a duration such as 90s, 12h or 30d")
	}
	return w.UnmarshalText([]byte(word))
}

// UnmarshalText implements [encoding.TextUnmarshaler]. An empty text, such as a field of a
// form that is left empty, is zero.
func (w *Wait) UnmarshalText(text []byte) error {
	if *w = 0; len(text) == 0 {
		return nil
	}
	d, err := period.Parse(string(text))
	*w = Wait(d)
	return err
}
