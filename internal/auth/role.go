package auth

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// Role is the extent of a user's rights. Each role includes the rights of the one before
// it.
type Role string

// The roles, least first.
const (
	Viewer     Role = "viewer"
	Operator   Role = "operator"
	Maintainer Role = "maintainer"
	Admin      Role = "admin"
)

var roles = []Role{Viewer, Operator, Maintainer, Admin}

// Roles returns all roles, least first.
func Roles() []Role { return slices.Clone(roles) }

// ParseRole reads the name of a role.
func ParseRole(s string) (Role, error) {
	if role := Role(s); slices.Contains(roles, role) {
		return role, nil
	}
	return "", problem.Refuse("role", "one of "+list(roles), "there is no role %q", s)
}

// reaches reports whether r is at least least. An unknown role reaches nothing, and no
// role reaches it.
func (r Role) reaches(least Role) bool {
	have, want := slices.Index(roles, r), slices.Index(roles, least)
	return want >= 0 && have >= want
}

// list joins the words for a message.
func list[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
