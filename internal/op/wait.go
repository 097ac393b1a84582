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
	d, err := period.Parse(word)
	*w = Wait(d)
	return err
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (w *Wait) UnmarshalText(text []byte) error {
	d, err := period.Parse(string(text))
	*w = Wait(d)
	return err
}
