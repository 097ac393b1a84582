package auth

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// Role is how far the rights of a user reach. Each holds those of the one
// before it.
type Role string

// The roles, least first.
const (
	Viewer     Role = "viewer"
	Operator   Role = "operator"
	Maintainer Role = "maintainer"
	Admin      Role = "admin"
)

var roles = []Role{Viewer, Operator, Maintainer, Admin}

// Roles are all roles, least first.
func Roles() []Role { return slices.Clone(roles) }

// ParseRole reads the name of a role.
func ParseRole(s string) (Role, error) {
	if role := Role(s); slices.Contains(roles, role) {
		return role, nil
	}
	return "", problem.Refuse("role", "one of "+list(roles), "there is no role %q", s)
}

// reaches reports whether r is at least least. A name that is no role reaches
// nothing, and no role reaches it.
func (r Role) reaches(least Role) bool {
	have, want := slices.Index(roles, r), slices.Index(roles, least)
	return want >= 0 && have >= want
}

// list says the words to a person.
func list[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
