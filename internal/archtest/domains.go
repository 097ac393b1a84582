package archtest

import (
	"fmt"
	"regexp"
	"strings"
)

// domainRules say which SQL may name the objects of a domain.
type domainRules struct {
	// dirs hold SQL that knows no domain.
	dirs []string
	// names finds the objects of domains.
	names *regexp.Regexp
	// known files name some all the same.
	known allowed
}

// checkDomains finds SQL of the engine that names a table, view or function of a domain:
// what the engine promises must not depend on who uses it.
func checkDomains(t *tree, r domainRules) []finding {
	var out []finding
	u := newUse(r.known)
	for _, x := range t.texts {
		if !strings.HasSuffix(x.path, ".sql") || !withinAny(x.path, r.dirs) {
			continue
		}
		for i, line := range strings.Split(string(x.data), "\n") {
			code, _, _ := strings.Cut(line, "--")
			name := r.names.FindString(code)
			if name == "" || u.allows(x.path) {
				continue
			}
			out = append(out, finding{x.path, i + 1, fmt.Sprintf("names %s: SQL of the engine knows no domain", name)})
		}
	}
	return append(out, u.stale("the domain rule")...)
}

func withinAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if within(path, dir) {
			return true
		}
	}
	return false
}
