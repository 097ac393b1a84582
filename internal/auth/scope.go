package auth

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// A scope is "kind:verb"; a star stands for all of them. It never gives a right that the
// user behind the token does not have.

func scopeOf(v Verb, kind string) string { return kind + ":" + string(v) }

func inScope(scopes []string, v Verb, kind string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool {
		k, verb, ok := strings.Cut(scope, ":")
		return ok && (k == "*" || k == kind) && (verb == "*" || verb == string(v))
	})
}

// checkScopes refuses scopes that can never match, so that a misspelled scope is noticed
// when the token is made and not in production.
func checkScopes(scopes []string) ([]string, error) {
	if len(scopes) == 0 {
		return nil, problem.Refuse("scopes", "for example *:read, task:submit or *:*", "say what the token may do")
	}
	if len(scopes) > 50 {
		return nil, problem.Refuse("scopes", "use a star: task:* or *:read", "more than 50")
	}
	for _, scope := range scopes {
		kind, verb, ok := strings.Cut(scope, ":")
		switch {
		case !ok:
			return nil, problem.Refuse("scopes", "for example *:read, task:submit or *:*", "%q is not kind:verb", scope)
		case kind != "*" && !slices.Contains(Kinds(), kind):
			return nil, problem.Refuse("scopes", "one of "+list(Kinds())+", or *", "there is no kind %q", kind)
		case verb != "*" && !slices.Contains(verbs, Verb(verb)):
			return nil, problem.Refuse("scopes", "one of "+list(verbs)+", or *", "there is no verb %q", verb)
		case !slices.ContainsFunc(rights, func(r right) bool { return r.tokens && inScope([]string{scope}, r.verb, r.kind) }):
			return nil, problem.Refuse("scopes", "leave it out", "a token can never do %q", scope)
		}
	}
	scopes = slices.Clone(scopes)
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}
