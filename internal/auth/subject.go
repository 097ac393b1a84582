package auth

import "context"

// The kinds of subjects.
const (
	KindUser   = "user"
	KindToken  = "token"
	KindNode   = "node"
	KindSystem = "system"
)

// Subject is the caller of an operation. The zero value is anonymous.
type Subject struct {
	// Kind is user, token, node or system.
	Kind string
	// ID is the id of the user or token, or the name of the node.
	ID string
	// Name is the name of the user, also behind a token; of the node; or of the part of
	// the system.
	Name string
	// UserID is set for users and tokens.
	UserID string
	// Role is the user's current role: a token's rights shrink with it.
	Role Role
	// Token is the name of the token, and Scopes limit it.
	Token  string
	Scopes []string
	// Session is the id of the session, for users that logged in.
	Session string
}

// System returns the subject of a part of Weir itself, or of a command on the database,
// because a caller with access to the database may do everything anyway.
func System(name string) Subject { return Subject{Kind: KindSystem, Name: name} }

// By returns the name of the subject for the timeline.
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

// Names returns the names under which the subject decides about what asks for certain
// people: its own, and role:NAME for its role and those below it. Nil stands for a part of
// the system, which may decide everything.
func (s Subject) Names() []string {
	switch s.Kind {
	case KindSystem:
		return nil
	case KindUser, KindToken:
		names := []string{s.Name}
		for _, r := range roles {
			if s.Role.reaches(r) {
				names = append(names, "role:"+string(r))
			}
		}
		return names
	}
	return []string{}
}

// Nobody reports whether the subject is anonymous.
func (s Subject) Nobody() bool { return s.Kind == "" }

// Own returns an object of a kind that belongs to the subject.
func (s Subject) Own(kind string) Object {
	if s.Kind == KindNode {
		return Object{Kind: kind, Owner: s.ID}
	}
	return Object{Kind: kind, Owner: s.UserID}
}

type subjectKey struct{}

// WithSubject stores the subject in the context.
func WithSubject(ctx context.Context, s Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// From returns the subject of the context; the zero Subject if there is none.
func From(ctx context.Context) Subject {
	s, _ := ctx.Value(subjectKey{}).(Subject)
	return s
}
