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

// Said returns the key of the header or of the body, where there may be one; two different
// keys are an error.
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

// Key returns the given key, bound to the subject: the same key of another user is another
// key. Tokens share the keys of their user, so that a program that gets a new token
// continues where it was.
func (k Keyed) Key(who auth.Subject, body string) (string, error) {
	said, err := k.Said(body)
	if said == "" || who.Kind == auth.KindSystem {
		return said, err
	}
	return "user:" + who.UserID + "/" + said, nil
}

// Made is the answer of a create.
type Made interface {
	// Place returns the parts of its address.
	Place() []string
}

// Again is the answer of a create that may find an earlier result.
type Again interface {
	Made
	// Found reports that nothing new was created.
	Found() bool
}

// Defined is the answer of an operation that reads or writes a definition.
type Defined interface {
	// Tag identifies this version of what a person wrote; see [Tag].
	Tag() string
	// New reports that there was none before.
	New() bool
}

// Tag identifies the content of a definition: what a person wrote, not what the engine
// counts.
func Tag(definition ...any) string {
	text, err := json.Marshal(definition)
	if err != nil {
		return "" // our own types always become JSON
	}
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Matched names the version of a definition that its writer has seen. The input of an
// operation that replaces one embeds it.
type Matched struct {
	IfMatch     string `header:"If-Match" doc:"The ETag of what you have read; * takes whatever is there."`
	IfNoneMatch string `header:"If-None-Match" doc:"* : only if there is none yet."`
}

// Unmatched is a refusal with a more specific HTTP status than its kind.
type Unmatched struct {
	*problem.Problem
	Status int
}

// Unwrap returns the problem.
func (u *Unmatched) Unwrap() error { return u.Problem }

// Judge compares with the current version; tag is empty if there is none. same means that
// the write would change nothing, which is always allowed.
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

// JudgeDrop compares with the definition to delete. Without a version any current one is
// deleted.
func (m Matched) JudgeDrop(kind, tag string) error {
	if m.IfMatch != "" && !m.matches(tag) {
		return stale("the %s was changed by somebody else", kind)
	}
	return nil
}

// Exact reports whether one version is meant, and no other.
func (m Matched) Exact() bool { return m.IfMatch != "" && !strings.Contains(m.IfMatch, "*") }

// Late turns a conflict into a refusal that another writer was faster, after the check.
func (m Matched) Late(err error) error {
	if err == nil || !m.Exact() {
		return err
	}
	if p := problem.Explain(err); p.Kind == problem.Conflict {
		return stale("%s", p.What)
	}
	return err
}

// Over replaces a definition whatever its version, as the database itself would; m is the
// one in the input.
func Over[Store, In any, Out Defined](ctx context.Context, c Caller, o *Op[Store, In, Out], in *In, m *Matched) (out Out, err error) {
	for range 5 {
		if out, err = o.Call(ctx, c, in); err == nil {
			return out, nil
		}
		switch p := problem.Explain(err); {
		case p.Field == "If-Match":
			m.IfMatch = "*"
		case p.Kind == problem.Conflict: // it was deleted meanwhile
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

// stale returns the refusal that another writer was faster.
func stale(format string, args ...any) error {
	return &Unmatched{problem.New(problem.Conflict, "read it again, then decide", format, args...), http.StatusPreconditionFailed}
}
