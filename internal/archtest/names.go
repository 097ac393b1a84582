package archtest

import (
	"path"
	"sort"
	"strings"
)

// checkNames refuses package names that say nothing about what is inside.
func checkNames(t *tree, vague allowed) []finding {
	var out []finding
	seen := map[string]bool{}
	for _, f := range t.goes {
		if seen[f.dir] {
			continue
		}
		seen[f.dir] = true
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		for _, n := range []string{name, path.Base(f.dir)} {
			if why, bad := vague[n]; bad {
				out = append(out, finding{f.path, t.line(f.syntax.Name.Pos()), "package " + n + ": " + why})
				break
			}
		}
	}
	return out
}

// checkDocs requires a doc.go with the package contract in every package below internal.
// A command may have it above the package clause of its main function.
func checkDocs(t *tree) []finding {
	code, documented := map[string]bool{}, map[string]bool{}
	for _, f := range t.goes {
		if !within(f.dir, "internal") || f.nested {
			continue
		}
		base := path.Base(f.path)
		code[f.dir] = true
		place := base == "doc.go" || (f.syntax.Name.Name == "main" && base == "main.go")
		documented[f.dir] = documented[f.dir] || (place && f.syntax.Doc != nil)
	}
	var out []finding
	for dir := range code {
		if !documented[dir] {
			out = append(out, finding{dir, 0, "has no doc.go with a package comment: write down the contract of the package"})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}
