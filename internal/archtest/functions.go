package archtest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	createFunction = regexp.MustCompile(`(?i)^create\s+(or\s+replace\s+)?(?:function|procedure)\s+(?:(\w+)\.)?(\w+)\s*\(`)
	commentOn      = regexp.MustCompile(`(?i)^comment\s+on\s+(?:function|procedure)\s+(?:\w+\.)?(\w+)`)
	definer        = regexp.MustCompile(`(?i)\bsecurity\s+definer\b`)
	searchPath     = regexp.MustCompile(`(?i)\bset\s+search_path\s*(=|to)\s*\S`)
)

// checkFunctions checks the form of a function file, because migrate applies these files
// repeatedly and the reference is generated from their comments.
func checkFunctions(t *tree, dir string, schemas ...string) []finding {
	var out []finding
	for _, x := range t.texts {
		if !within(x.path, dir) || path.Ext(x.path) != ".sql" {
			continue
		}
		for _, text := range judgeFunction(strings.TrimSuffix(path.Base(x.path), ".sql"), string(x.data), schemas) {
			out = append(out, finding{x.path, 0, text})
		}
	}
	return out
}

// judgeFunction returns what is wrong with the text of one function file.
func judgeFunction(base, text string, schemas []string) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !strings.HasPrefix(text, "--") {
		add("does not start with a comment: say what the function promises")
	}
	stmts := statements(text)
	var names []string
	for _, s := range stmts {
		m := createFunction.FindStringSubmatch(s.bare)
		if m == nil {
			continue
		}
		names = append(names, m[3])
		if m[1] == "" {
			add("creates %s without \"or replace\": migrate could apply it only once", m[3])
		}
		if !slices.Contains(schemas, m[2]) {
			add("creates %s outside schema %s: write the schema, the search_path of the caller is not ours", m[3], strings.Join(schemas, " and "))
		}
		if definer.MatchString(s.bare) && !searchPath.MatchString(s.bare) {
			add("%s is security definer without \"set search_path\": a caller could put its own tables in front of ours", m[3])
		}
	}
	switch {
	case len(names) != 1:
		add("defines %d functions: one file, one function", len(names))
		return out
	case names[0] != base && names[0] != "_"+base:
		add("defines %s: the file has the name of its function", names[0])
	}
	if m := commentOn.FindStringSubmatch(stmts[len(stmts)-1].bare); m == nil || m[1] != names[0] {
		add("does not end with \"comment on function %s\": the SQL reference is made from it", names[0])
	}
	return out
}
