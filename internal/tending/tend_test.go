package tending

import (
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/listen"
)

func TestParseGates(t *testing.T) {
	note := func(payloads ...string) (hint listen.Hint) {
		for _, p := range payloads {
			hint.Notes = append(hint.Notes, listen.Note{Channel: GatesChannel, Payload: p})
		}
		return hint
	}
	for _, c := range []struct {
		name         string
		hint         listen.Hint
		lanes, pools []string
		all          bool
	}{
		{"nothing", listen.Hint{}, nil, nil, false},
		{"listening began", listen.Hint{All: true}, nil, nil, true},
		{"keys", note(`{"lanes":["a"],"pools":null}`, `{"lanes":["b"],"pools":["p"]}`), []string{"a", "b"}, []string{"p"}, false},
		{"too many keys", note(``), nil, nil, true},
		{"no keys", note(`{"lanes":null,"pools":null}`), nil, nil, true},
		{"not ours", note(`[]`, `{"pools":["p"]}`), nil, []string{"p"}, true},
	} {
		k := parseGates(c.hint)
		if !slices.Equal(k.Lanes, c.lanes) || !slices.Equal(k.Pools, c.pools) || k.all != c.all || k.Lanes == nil || k.Pools == nil {
			t.Errorf("%s: %+v", c.name, k)
		}
	}
}
