package account

import "github.com/weirhq/weir/internal/auth"

// Identity says who asks, and how far their rights reach, as it travels.
type Identity struct {
	Kind   string    `json:"kind" enum:"user,token,node,system"`
	Name   string    `json:"name"`
	UserID string    `json:"user_id,omitempty"`
	Role   auth.Role `json:"role,omitempty"`
	// Token is the name of the token, and Scopes bound it.
	Token   string   `json:"token,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Session string   `json:"session,omitempty"`
}

// IdentityOf is that of a subject.
func IdentityOf(s auth.Subject) Identity {
	return Identity{Kind: s.Kind, Name: s.Name, UserID: s.UserID, Role: s.Role, Token: s.Token, Scopes: s.Scopes, Session: s.Session}
}
