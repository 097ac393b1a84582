package definition

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// filledIn finds templates of this language in a script, which is none.
var filledIn = regexp.MustCompile(`\{\{-?\s*\(?(?:index\s+)?\.(params|needs|item|index|job|workflow)\b`)

// shell warns of values that become part of a program: whoever may give the value may
// then run what he likes as the user of the agent.
func (l *linter) shell(s *Step, at string) {
	if m := filledIn.FindStringIndex(s.Script); m != nil {
		f := l.faultIn(at+".script", s.Script, m[0], `read a param as "$PARAM_NAME"; for another value write env: {X: "{{ … }}"} and read "$X"`,
			"a script is no template, so that no value can become a part of it")
		l.faults = append(l.faults, f)
	}
	if s.Script != "" {
		l.clash(s, at)
	}
	if s.Run == nil {
		return
	}
	i := line(s.Run.Argv)
	if i < 0 || !isTemplate(s.Run.Argv[i]) {
		return
	}
	t, err := parseTemplate(s.Run.Argv[i])
	if err != nil {
		return // a fault already
	}
	for _, r := range t.refs {
		if l.harmless(r) {
			continue
		}
		f := l.faultIn(item(at+".run.argv", i), s.Run.Argv[i], r.offset,
			`write script: | and read a param as "$PARAM_NAME", or pass it behind the line as an argument: [sh, -c, 'echo "$1"', sh, "{{ … }}"]`,
			"%s becomes a part of a program: a value such as x; rm -rf . would run", r)
		f.Warning = true
		l.faults = append(l.faults, f)
		return
	}
}

// harmless reports whether a value can hold nothing but digits or a checked name.
func (l *linter) harmless(r ref) bool {
	switch r.path[0] {
	case "index", "workflow", "job":
		return true
	case "params":
		if len(r.path) != 2 {
			return false
		}
		property, _ := l.params[r.path[1]].(map[string]any)
		return property["type"] == "integer" || property["type"] == "number" || property["type"] == "boolean"
	default:
		return false
	}
}

// interpreters are programs that run a text, with the option that comes before it.
var interpreters = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "ash": "c", "zsh": "c", "ksh": "c", "fish": "c", "su": "c", "python": "c",
	"perl": "e", "ruby": "e", "node": "e", "lua": "e", "php": "r", "psql": "c", "cmd": "c", "pwsh": "c", "powershell": "c",
}

// line returns the index of the argument that is a program, or -1: what follows -c of a
// shell, also as -ec or behind env, sudo, busybox and the like.
func line(argv []string) int {
	option := ""
	for i, arg := range argv {
		name := strings.TrimRight(strings.TrimSuffix(path.Base(arg), ".exe"), "0123456789.")
		if of, ok := interpreters[name]; ok && option == "" {
			option = of
			continue
		}
		letters := strings.ToLower(strings.TrimLeft(arg, "-/"))
		dashed := strings.HasPrefix(arg, "-") || option == "c" && strings.EqualFold(arg, "/c")
		if option == "" || !dashed || i+1 >= len(argv) {
			continue
		}
		if !strings.HasPrefix(arg, "--") && strings.HasSuffix(letters, option) || letters == "command" || letters == "eval" {
			return i + 1
		}
	}
	return -1
}

// clash refuses params that would be the same variable of a script.
func (l *linter) clash(s *Step, at string) {
	names, where := sortedKeys(s.Params), at+".params"
	if s.Params == nil {
		names, where = sortedKeys(l.params), "params"
	}
	seen := map[string]string{}
	for _, name := range names {
		variable := Variable("PARAM_", name)
		if other, ok := seen[variable]; ok {
			l.add(join(where, name), "rename one of the two", "the script of step %q would get %s and %s as %s", s.Key, other, name, fmt.Sprintf("$%s", variable))
		}
		seen[variable] = name
	}
}

// environment checks the variables of the whole workflow, which know no step.
func (l *linter) environment() {
	l.variables("env", l.Env)
	for _, name := range sortedKeys(l.Env) {
		text := l.Env[name]
		if !isTemplate(text) {
			continue
		}
		t, err := parseTemplate(text)
		if err != nil {
			f, _ := err.(*templateFault)
			l.faults = append(l.faults, l.faultIn("env."+name, text, f.offset, f.next, "%s", f.what))
			continue
		}
		for _, r := range t.refs {
			what, next := "", ""
			switch r.path[0] {
			case "needs", "item", "index":
				what, next = fmt.Sprintf("the workflow's env is the same for all steps, so it has no %s", r.path[0]), "write it into env: of the step"
			default:
				what, next = l.reference(r.path, nil, 0, false)
			}
			if what != "" {
				l.faults = append(l.faults, l.faultIn("env."+name, text, r.offset, next, "%s", what))
			}
		}
	}
}
