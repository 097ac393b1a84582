package archtest

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// recipe binds a section of CONTRIBUTING.md to the tree: what must be named in every file
// of its numbered list, and nowhere else as a whole.
type recipe struct {
	heading string
	// names reads from golden.sql what there is now.
	names *regexp.Regexp
	// form is how a file names one: %[1]s as SQL does, %[2]s as Go does.
	form string
	// list is how many names make a file a list of them. Of names with several words, if there
	// are any: a single word may be about anything.
	list int
	// most is how many places the recipe may have.
	most int
	// but are names that a place has no use for, by the path of the place.
	but map[string]string
}

var (
	// step is a numbered line of a section, with the lines that it goes on in.
	step = regexp.MustCompile(`(?m)^\d+\. .*(\n {3}.*)*`)
	// place is a path in a step: a file, or a folder whose files are read as one.
	place = regexp.MustCompile("`([\\w./-]+/[\\w./-]+|[\\w-]+\\.go)`")
)

// written are the endings of files that may hold a list.
var written = map[string]bool{".sql": true, ".go": true, ".templ": true, ".json": true}

// outside are folders that no recipe is about: tests, tools and what is generated.
var outside = []string{"bench", "chaos", "docs", "examples", "scenarios", "tools", "internal/app/testdata", "internal/archtest", "internal/mutate", "schema/golden.sql"}

// checkRecipe compares the places of a recipe with the tree, both ways.
func checkRecipe(t *tree, r recipe) []finding {
	const page = "CONTRIBUTING.md"
	files := map[string]string{}
	for _, x := range t.texts {
		files[x.path] = string(x.data)
	}
	_, section, ok := strings.Cut(files[page], "\n## "+r.heading+"\n")
	if !ok {
		return []finding{{page, 0, "has no section " + r.heading}}
	}
	section, _, _ = strings.Cut(section, "\n## ")
	forms := r.forms(files["schema/golden.sql"])
	distinct := false
	for _, f := range forms {
		distinct = distinct || f.distinct
	}
	if len(forms) == 0 {
		return []finding{{"schema/golden.sql", 0, "has nothing that " + r.heading + " is about"}}
	}

	var out []finding
	listed, known := map[string]bool{}, map[string]bool{}
	for _, m := range place.FindAllStringSubmatch(section, -1) {
		known[m[1]] = true
	}
	for _, line := range step.FindAllString(section, -1) {
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			listed[m[1]] = true
		}
	}
	if len(listed) > r.most {
		out = append(out, finding{page, 0, fmt.Sprintf("%s: %d places are more than %d: let one take its names from another", r.heading, len(listed), r.most)})
	}
	for p := range listed {
		text := under(files, p)
		for name, f := range forms {
			if !f.in(text) && !strings.Contains(" "+r.but[p]+" ", " "+name+" ") {
				out = append(out, finding{p, 0, fmt.Sprintf("does not name %s: see %q in %s", name, r.heading, page)})
			}
		}
	}
	for p, text := range files {
		if known[p] || known[path.Dir(p)] || !written[path.Ext(p)] || withinAny(p, outside) || strings.HasSuffix(p, "_test.go") || strings.HasSuffix(p, "_templ.go") {
			continue
		}
		n := 0
		for _, f := range forms {
			if (f.distinct || !distinct) && f.in(text) {
				n++
			}
		}
		if n >= r.list {
			out = append(out, finding{p, 0, fmt.Sprintf("is a list of what %q of %s is about: put it there, or take the names from a place there", r.heading, page)})
		}
	}
	return out
}

// form is how files name something. signs are a cheap first look.
type form struct {
	signs    [2]string
	re       *regexp.Regexp
	distinct bool
}

func (f form) in(text string) bool {
	return (strings.Contains(text, f.signs[0]) || strings.Contains(text, f.signs[1])) && f.re.MatchString(text)
}

// forms are the names that there are, each with what finds it in a file.
func (r recipe) forms(golden string) map[string]form {
	out := map[string]form{}
	m := r.names.FindStringSubmatch(golden)
	if m == nil {
		return nil
	}
	for _, line := range strings.FieldsFunc(m[1], func(c rune) bool { return c == '\n' || c == ',' }) {
		name := strings.Fields(line)[0]
		words := strings.Split(name, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		camel := strings.Join(words, "")
		out[name] = form{[2]string{name, camel}, regexp.MustCompile(fmt.Sprintf(r.form, name, camel)), len(words) > 1}
	}
	return out
}

// under is the text of a file, or of all files of a folder.
func under(files map[string]string, p string) string {
	if text, ok := files[p]; ok {
		return text
	}
	var all strings.Builder
	for q, text := range files {
		if path.Dir(q) == p {
			all.WriteString(text)
		}
	}
	return all.String()
}
