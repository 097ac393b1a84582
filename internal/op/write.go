package op

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Keyed makes a create safe to send again. The input of a create embeds it.
type Keyed struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"The same key gives the same answer and makes nothing new."`
}

// Said is the header's key or the body's, where there may be one; two different ones are a
// mistake.
func (k Keyed) Said(body string) (string, error) {
	switch k.IdempotencyKey {
	case "", body:
		return body, nil
	}
	if body == "" {
		return k.IdempotencyKey, nil
	}
	return "", problem.Refuse("idempotency_key", "give one of them", "the header Idempotency-Key says another one")
}

// Key is what was said, as a key of who asks: the same word of somebody else is another
// key. Tokens have the keys of their user: a program that gets a new token goes on where it
// was.
func (k Keyed) Key(who auth.Subject, body string) (string, error) {
	said, err := k.Said(body)
	if said == "" || who.Kind == auth.KindSystem {
		return said, err
	}
	return "user:" + who.UserID + "/" + said, nil
}

// Made is the answer of a create.
type Made interface {
	// Place are the parts of its address.
	Place() []string
}

// Again is the answer of a create that may find what it made before.
type Again interface {
	Made
	// Found says that nothing new was made.
	Found() bool
}

// Defined is the answer of what reads or writes a definition.
type Defined interface {
	// Tag names this version of what a person wrote; see [Tag].
	Tag() string
	// New says that there was none before.
	New() bool
}

// Tag names the content of a definition: what a person wrote, not what the engine counts.
func Tag(definition ...any) string {
	text, err := json.Marshal(definition)
	if err != nil {
		return "" // our own types always become JSON
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Matched says which version of a definition its writer has seen. The input of what writes
// over one embeds it.
type Matched struct {
	IfMatch     string `header:"If-Match" doc:"The ETag of what you have read; * takes whatever is there."`
	IfNoneMatch string `header:"If-None-Match" doc:"* : only if there is none yet."`
}

// Unmatched is a refusal whose HTTP status says more than its kind.
type Unmatched struct {
	*problem.Problem
	Status int
}

// Unwrap gives the problem.
func (u *Unmatched) Unwrap() error { return u.Problem }

// Judge compares with what is there; tag is empty if there is nothing. same says that the
// write would change nothing, which needs no leave.
func (m Matched) Judge(kind, tag string, same bool) error {
	switch {
	case m.IfNoneMatch == "*" && tag != "":
		return stale("there is a %s of this name already", kind)
	case m.IfMatch != "" && tag == "":
		return stale("there is no %s of this name any more", kind)
	case m.IfMatch != "" && !m.matches(tag):
		return stale("the %s was changed by somebody else", kind)
	case m.IfMatch == "" && tag != "" && !same:
		return &Unmatched{Status: http.StatusPreconditionRequired, Problem: &problem.Problem{
			Kind: problem.Invalid, Field: "If-Match", What: "If-Match: there is a " + kind + " of this name with another content",
			Next: "send If-Match with the ETag you have read, or If-Match: * to write over whatever is there",
		}}
	}
	return nil
}

// JudgeDrop compares with what is to be deleted. Who says nothing takes whatever is there.
func (m Matched) JudgeDrop(kind, tag string) error {
	if m.IfMatch != "" && !m.matches(tag) {
		return stale("the %s was changed by somebody else", kind)
	}
	return nil
}

// Exact says that one version is meant, and no other.
func (m Matched) Exact() bool { return m.IfMatch != "" && !strings.Contains(m.IfMatch, "*") }

// Late says so if somebody else was faster, after we had looked.
func (m Matched) Late(err error) error {
	if err == nil || !m.Exact() {
		return err
	}
	if p := problem.Explain(err); p.Kind == problem.Conflict {
		return stale("%s", p.What)
	}
	return err
}

// Over writes a definition over whatever is there, as the database itself would; m is that
// of the input.
func Over[Store, In any, Out Defined](ctx context.Context, c Caller, o *Op[Store, In, Out], in *In, m *Matched) (out Out, err error) {
	for range 5 {
		if out, err = o.Call(ctx, c, in); err == nil {
			return out, nil
		}
		switch p := problem.Explain(err); {
		case p.Field == "If-Match":
			m.IfMatch = "*"
		case p.Kind == problem.Conflict: // it went away meanwhile
			m.IfMatch = ""
		default:
			return out, err
		}
	}
	return out, err
}

func (m Matched) matches(tag string) bool {
	for part := range strings.SplitSeq(m.IfMatch, ",") {
		if part = strings.TrimSpace(part); part == "*" || part == tag {
			return true
		}
	}
	return false
}

// stale says that somebody else was faster.
func stale(format string, args ...any) error {
	return &Unmatched{problem.New(problem.Conflict, "read it again, then decide", format, args...), http.StatusPreconditionFailed}
}
