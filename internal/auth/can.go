package auth

import (
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// Verb is an action that a subject asks for.
type Verb string

// The verbs.
const (
	Read       Verb = "read"
	Submit     Verb = "submit"
	Command    Verb = "command"    // cancel, retry, hold, release, priority
	Override   Verb = "override"   // skip: go on as if the task had succeeded
	Manage     Verb = "manage"     // make, change, remove
	Administer Verb = "administer" // act on objects of other people
)

// Object is the target of the action.
type Object struct {
	// Kind is one of [Kinds].
	Kind string
	// Owner is the id of the user it belongs to, or the name of the node when a node asks
	// about itself. It is empty if the object has no owner.
	Owner string
}

// right is a line of the table: who may do verb to an object of the kind. A role that is
// not listed may not.
type right struct {
	kind string
	verb Verb
	// others is the least role for objects of another owner, or without an owner.
	others Role
	// own is the least role for the subject's own objects.
	own Role
	// tokens may do it too, within their scopes. Actions that grant rights are left to
	// people, so that a leaked token cannot create another token.
	tokens bool
	// nodes may do it to their own objects.
	nodes bool
}

// rights is the whole table. An action that is not listed is denied.
var rights = []right{
	{"task", Read, Viewer, Viewer, true, false},
	{"task", Submit, Operator, Operator, true, false},
	{"task", Command, Operator, Operator, true, false},
	{"task", Override, Maintainer, Maintainer, true, false},
	{"job", Read, Viewer, Viewer, true, false},
	{"job", Submit, Operator, Operator, true, false},
	{"job", Command, Operator, Operator, true, false},
	{"job", Override, Maintainer, Maintainer, true, false},
	{"workflow", Read, Viewer, Viewer, true, false},
	{"workflow", Submit, Operator, Operator, true, false},
	{"workflow", Manage, Maintainer, Maintainer, true, false},
	{"rollout", Read, Viewer, Viewer, true, false},
	{"rollout", Submit, Operator, Operator, true, false},
	{"rollout", Command, Operator, Operator, true, false},
	{"rollout", Override, Maintainer, Maintainer, true, false},
	{"database", Read, Viewer, Viewer, true, false},
	{"database", Manage, Maintainer, Maintainer, true, false},
	{"fleet", Read, Viewer, Viewer, true, false},
	// A fleet job brings a program that runs on PCs, so it takes the same role as storing
	// a definition.
	{"fleet", Submit, Maintainer, Maintainer, true, false},
	{"fleet", Command, Operator, Operator, true, false},
	{"fleet", Manage, Maintainer, Maintainer, true, false},
	{"device", Read, Viewer, Viewer, true, false},
	{"device", Command, Operator, Operator, true, false},
	// A person who reserved a device keeps it until the end he named; an admin may take it
	// away.
	{"device", Override, Admin, Admin, true, false},
	// A forward reaches a device itself, past its runs.
	{"forward", Submit, Operator, Operator, true, false},
	{"pc", Read, Viewer, Viewer, true, false},
	{"pc", Manage, Maintainer, Maintainer, true, false},
	// A workspace belongs to its owner. Settings for all workspaces, and workspaces that
	// run as the server itself (provider process), take an admin.
	{"workspace", Read, Admin, Viewer, true, false},
	{"workspace", Submit, Admin, Operator, true, false},
	{"workspace", Command, Admin, Operator, true, false},
	{"workspace", Manage, Admin, Admin, true, false},
	{"workspace", Administer, Admin, Admin, true, false},
	{"artifact", Read, Viewer, Viewer, true, false},
	{"secret", Read, Maintainer, Maintainer, true, false},
	{"secret", Manage, Maintainer, Maintainer, true, false},
	{"secret", Administer, Admin, Admin, true, false},
	{"pool", Read, Viewer, Viewer, true, false},
	{"pool", Manage, Maintainer, Maintainer, true, false},
	{"schedule", Read, Viewer, Viewer, true, false},
	{"schedule", Manage, Maintainer, Maintainer, true, false},
	{"trigger", Read, Viewer, Viewer, true, false},
	{"trigger", Manage, Maintainer, Maintainer, true, false},
	{"node", Read, Viewer, Viewer, true, true},
	{"node", Command, "", "", false, true},
	{"node", Manage, Maintainer, Maintainer, true, false},
	{"lease", Command, "", "", false, true},
	{"worker", Read, Viewer, Viewer, true, false},
	{"event", Read, Viewer, Viewer, true, false},
	{"health", Read, Viewer, Viewer, true, false},
	// The deep doctor reads all of the history, which takes the database minutes.
	{"health", Administer, Admin, Admin, true, false},
	{"metrics", Read, Viewer, Viewer, true, false},
	{"join", Read, Maintainer, Maintainer, true, false},
	{"join", Manage, Maintainer, Maintainer, true, false},
	{"audit", Read, Admin, Admin, true, false},
	{"user", Read, Admin, Viewer, true, false},
	{"user", Manage, Admin, Viewer, false, false},
	{"user", Administer, Admin, Admin, false, false},
	{"token", Read, Admin, Viewer, true, false},
	{"token", Manage, Admin, Viewer, false, false},
	{"token", Administer, Admin, Admin, false, false},
	{"session", Read, Admin, Viewer, true, false},
	{"session", Manage, Admin, Viewer, false, false},
	{"session", Administer, Admin, Admin, false, false},
}

var verbs = []Verb{Read, Submit, Command, Override, Manage, Administer}

// Verbs returns all verbs.
func Verbs() []Verb { return append([]Verb(nil), verbs...) }

// Kinds returns all kinds of objects, in the order of the table.
func Kinds() []string {
	var kinds []string
	for _, r := range rights {
		if len(kinds) == 0 || kinds[len(kinds)-1] != r.kind {
			kinds = append(kinds, r.kind)
		}
	}
	return kinds
}

func find(v Verb, kind string) (right, bool) {
	for _, r := range rights {
		if r.kind == kind && r.verb == v {
			return r, true
		}
	}
	return right{}, false
}

// Can reports whether s may do v to o. No other code decides that.
func Can(s Subject, v Verb, o Object) bool {
	r, known := find(v, o.Kind)
	if !known {
		return false
	}
	switch s.Kind {
	case KindSystem:
		return true
	case KindUser:
		return s.Role.reaches(r.least(s, o))
	case KindToken:
		return r.tokens && s.Role.reaches(r.least(s, o)) && inScope(s.Scopes, v, o.Kind)
	case KindNode:
		return r.nodes && s.ID != "" && o.Owner == s.ID
	default:
		return false
	}
}

// least returns the role that the right requires of s for o.
func (r right) least(s Subject, o Object) Role {
	if s.owns(o) {
		return r.own
	}
	return r.others
}

func (s Subject) owns(o Object) bool { return s.UserID != "" && o.Owner == s.UserID }

// Allow returns nil if s may do v to o, or else the reason. For an object of another
// owner that s may not reach, the error is "not found", because the answer must not
// reveal that the object exists.
func Allow(s Subject, v Verb, o Object) error {
	if Can(s, v, o) {
		return nil
	}
	if s.Nobody() {
		return problem.New(problem.Unauthenticated, "log in, or send a token", "it is not known who asks").Run("weir token create")
	}
	r, known := find(v, o.Kind)
	foreign := o.Owner != "" && !s.owns(o) && (s.Kind != KindNode || o.Owner != s.ID)
	switch {
	case !known:
		return problem.New(problem.Forbidden, "", "nobody may %s a %s", v, o.Kind)
	case foreign:
		return problem.New(problem.NotFound, "", "there is no such %s", o.Kind)
	case s.Kind == KindNode:
		return problem.New(problem.Forbidden, "use the token of a user", "a node may only ask about itself")
	case s.Kind == KindToken && !r.tokens:
		return problem.New(problem.Forbidden, "log in as a person to do that", "a token may not %s: %s", v, o.Kind)
	case !s.Role.reaches(r.least(s, o)):
		least := r.least(s, o)
		if least == "" {
			return problem.New(problem.Forbidden, "", "only a node may %s a %s", v, o.Kind)
		}
		return problem.New(problem.Forbidden, "ask an admin for the role "+string(least), "%s may not %s: %s takes the role %s, and yours is %s", s.By(), v, o.Kind, least, s.Role)
	default:
		return problem.New(problem.Forbidden, "make one that has it: weir token create --scope "+scopeOf(v, o.Kind), "the token's scopes (%s) do not hold %s", strings.Join(s.Scopes, " "), scopeOf(v, o.Kind))
	}
}
