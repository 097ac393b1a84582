package archtest

import (
	"fmt"
	"regexp"
	"strings"
)

// wordRule says what SQL in some folders must not contain.
type wordRule struct {
	name string
	dirs []string
	// words matches it, outside comments.
	words *regexp.Regexp
	why   string
	// known are the files that contain it all the same.
	known allowed
}

// checkWords finds SQL that breaks a rule about words.
func checkWords(t *tree, r wordRule) []finding {
	var out []finding
	u := newUse(r.known)
	for _, x := range t.texts {
		if !strings.HasSuffix(x.path, ".sql") || !withinAny(x.path, r.dirs) {
			continue
		}
		for i, line := range strings.Split(string(x.data), "\n") {
			code, _, _ := strings.Cut(line, "--")
			word := r.words.FindString(code)
			if word == "" || u.allows(x.path) {
				continue
			}
			out = append(out, finding{x.path, i + 1, fmt.Sprintf("has %s: %s", word, r.why)})
		}
	}
	return append(out, u.stale("the rule of "+r.name)...)
}

func withinAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if within(path, dir) {
			return true
		}
	}
	return false
}
