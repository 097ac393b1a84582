package problem

import (
	"encoding/json"
	"strings"

	"github.com/weirhq/weir"
)

// sentinels let a client of the API branch on an answer as on an error of the SDK.
var sentinels = map[Kind]error{NotFound: weir.ErrNotFound, Conflict: weir.ErrConflict, Invalid: weir.ErrInvalid, Stale: weir.ErrLeaseLost}

// Received reads a problem in the form that a server sends: problem+json. instance
// identifies the request in the server's log. ok is false if it is no problem of Weir.
func Received(contentType string, text []byte) (p *Problem, instance string, ok bool) {
	var r struct {
		Code, Detail, Next, Field, Instance string
		Args                                []any
		Data                                json.RawMessage
	}
	if !strings.HasPrefix(contentType, "application/problem+json") || json.Unmarshal(text, &r) != nil || r.Code == "" {
		return nil, "", false
	}
	p = &Problem{Kind: FromCode(r.Code), What: r.Detail, Next: r.Next, Field: r.Field, Args: r.Args, Data: r.Data}
	p.Err = sentinels[p.Kind]
	return p, r.Instance, true
}
