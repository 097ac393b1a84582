package workspace

import (
	"encoding/json"
	"errors"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Limit is why a workspace may not start: as many run as may.
type Limit struct {
	// Type is whose limit it is: user or all.
	Type    string `json:"limit_type"`
	Current int    `json:"current"`
	Max     int    `json:"max"`
	// Running are those of the owner.
	Running []Runs `json:"running"`
}

// Runs is a workspace that runs, or is about to.
type Runs struct {
	ID    weir.ID      `json:"id"`
	Name  string       `json:"name"`
	Phase ladder.Phase `json:"phase"`
}

// LimitOf reads the limit out of an error, also out of one that came from a server.
func LimitOf(err error) (l Limit, over bool) {
	p := new(problem.Problem)
	if !errors.As(err, &p) || p.Kind != problem.TooMany || json.Unmarshal(p.Data, &l) != nil {
		return Limit{}, false
	}
	return l, true
}

// refused makes a problem of a limit, so that whoever passes it on has what runs with it.
// Other errors stay what they are.
func refused(err error) error {
	if p := problem.Explain(err); p.Kind == problem.TooMany {
		return p
	}
	return err
}
