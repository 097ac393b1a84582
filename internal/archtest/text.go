package archtest

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// banned is text that must not be in the repository.
type banned struct {
	re *regexp.Regexp
	// sign are words of which every match contains one: a cheap first check, because the
	// expressions are slow under the race detector.
	sign []string
	// in limits the rule to files with these endings; empty means every file.
	in []string
	// but are matches that are allowed everywhere.
	but []string
	why string
}

type textRules struct {
	banned []banned
	// quiet are folders whose purpose is to contain the text, with the reason.
	quiet allowed
}

// checkText reads every text file, line by line.
func checkText(t *tree, r textRules) []finding {
	var out []finding
	u := newUse(r.quiet)
	for _, x := range t.texts {
		if base := path.Base(x.path); base == "go.sum" || base == "LICENSE" {
			continue // neither is prose of this project
		}
		found := r.read(x)
		if len(found) == 0 {
			continue
		}
		quiet := false
		for dir := range r.quiet {
			quiet = quiet || (within(x.path, dir) && u.allows(dir))
		}
		if !quiet {
			out = append(out, found...)
		}
	}
	return append(out, u.stale("the text rule")...)
}

func (r textRules) read(x textFile) []finding {
	var out []finding
	for _, b := range r.banned {
		if !b.covers(x.path) || !slices.ContainsFunc(b.sign, func(w string) bool { return bytes.Contains(x.data, []byte(w)) }) {
			continue
		}
		for i, line := range bytes.Split(x.data, []byte("\n")) {
			m := strings.TrimSpace(string(b.re.Find(line)))
			if m != "" && !slices.Contains(b.but, m) {
				out = append(out, finding{x.path, i + 1, "says " + m + ": " + b.why})
			}
		}
	}
	return out
}

func (b banned) covers(p string) bool {
	for _, ext := range b.in {
		if strings.HasSuffix(p, ext) {
			return true
		}
	}
	return len(b.in) == 0
}
