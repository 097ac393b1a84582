package auth

import "context"

// The kinds of subjects.
const (
	KindUser   = "user"
	KindToken  = "token"
	KindNode   = "node"
	KindSystem = "system"
)

// Subject is who asks. The zero value is nobody.
type Subject struct {
	// Kind is user, token, node or system.
	Kind string
	// ID is the id of the user or token, or the name of the node.
	ID string
	// Name is the name of the user, also behind a token; of the node; of the
	// part of the system.
	Name string
	// UserID is set for users and tokens.
	UserID string
	// Role is the user's, as it is now: a token's rights shrink with it.
	Role Role
	// Token is the name of the token, and Scopes bound it.
	Token  string
	Scopes []string
	// Session is the id of the session, for users that logged in.
	Session string
}

// System is a part of Weir itself, or a command on the database: whoever holds
// the database may do everything anyway.
func System(name string) Subject { return Subject{Kind: KindSystem, Name: name} }

// By is what the timeline says about who did it.
func (s Subject) By() string {
	switch s.Kind {
	case KindUser, KindSystem:
		return s.Name
	case KindToken:
		return s.Name + " (token " + s.Token + ")"
	case KindNode:
		return "node " + s.Name
	default:
		return "nobody"
	}
}

// Nobody reports whether it is not known who asks.
func (s Subject) Nobody() bool { return s.Kind == "" }

// Own is a thing of a kind that is the subject's own.
func (s Subject) Own(kind string) Object {
	if s.Kind == KindNode {
		return Object{Kind: kind, Owner: s.ID}
	}
	return Object{Kind: kind, Owner: s.UserID}
}

type subjectKey struct{}

// WithSubject says in the context who asks.
func WithSubject(ctx context.Context, s Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// From is who asks, as the context says; the zero Subject if it does not.
func From(ctx context.Context) Subject {
	s, _ := ctx.Value(subjectKey{}).(Subject)
	return s
}
