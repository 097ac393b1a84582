package definition

import (
	"errors"
	"fmt"
	"strings"
)

// compiled contains the templates and expressions of a step, by path. They are parsed
// once and evaluated per job, or per item.
type compiled struct {
	step      *Step
	when      *expression
	over      *expression
	axes      map[string]*expression // of a matrix
	templates map[string]*template   // by their text
	all       []ref
}

func (c *compiled) refs() []ref { return c.all }

// site is a text of a step that may contain a template.
type site struct {
	path string
	text string
}

// sites returns all sites, in the order of the keys.
func (s *Step) sites() []site {
	var out []site
	var add func(path string, v any)
	add = func(path string, v any) {
		switch v := v.(type) {
		case string:
			if isTemplate(v) {
				out = append(out, site{path, v})
			}
		case []any:
			for i := range v {
				add(item(path, i), v[i])
			}
		case map[string]any:
			for _, key := range sortedKeys(v) {
				add(join(path, key), v[key])
			}
		case []string:
			for i := range v {
				add(item(path, i), v[i])
			}
		case map[string]string:
			for _, key := range sortedKeys(v) {
				add(join(path, key), v[key])
			}
		}
	}
	add("params", s.Params)
	add("labels", s.Labels)
	add("approval", s.Approval.Words())
	if s.Prefer != nil {
		add("prefer.labels", s.Prefer.Labels)
	}
	if s.Map != nil {
		if list, ok := s.Map.Over.([]any); ok {
			add("map.over", list)
		}
		for _, axis := range sortedKeys(s.Map.Matrix) {
			if list, ok := s.Map.Matrix[axis].([]any); ok {
				add("map.matrix."+axis, list)
			}
		}
	}
	add("env", s.Env)
	if run := s.Run; run != nil {
		add("run.argv", run.Argv)
		add("run.env", run.Env)
		add("run.dir", run.Dir)
		add("run.image", run.Image)
		add("run.memory", run.Memory)
		add("run.network", run.Network)
		add("run.url", run.URL)
		add("run.headers", run.Headers)
		if run.Compose != nil {
			add("run.compose.url", run.Compose.URL)
		}
	}
	return out
}

// compileStep parses everything of a step that is evaluated.
func (d *Definition) compileStep(s *Step) (*compiled, Faults) {
	c := &compiled{step: s, templates: map[string]*template{}}
	var faults Faults
	bad := func(at, text string, err error) {
		f, ok := errors.AsType[*templateFault](err)
		if !ok {
			f = &templateFault{what: err.Error()}
		}
		faults = append(faults, d.faultIn(join(d.pathOf(s), at), text, f.offset, f.next, "%s", f.what))
	}
	if s.When != "" {
		e, err := parseExpression(s.When)
		if err != nil {
			bad("when", s.When, err)
		} else {
			c.when = e
			c.all = append(c.all, e.refs...)
		}
	}
	if s.Map != nil {
		if text, ok := s.Map.Over.(string); ok {
			e, err := parseExpression(text)
			if err != nil {
				bad("map.over", text, err)
			} else {
				c.over = e
				c.all = append(c.all, e.refs...)
			}
		}
	}
	if s.Map != nil {
		c.parseAxes(bad)
	}
	for _, at := range s.sites() {
		if len(faults) > faultLimit { // more would not be read, and each costs a search in the file
			break
		}
		t, err := parseTemplate(at.text)
		if err != nil {
			bad(at.path, at.text, err)
			continue
		}
		c.templates[at.text] = t
		c.all = append(c.all, t.refs...)
	}
	for _, text := range d.Env { // its faults are those of the workflow, which Lint reports
		if t, err := parseTemplate(text); err == nil && isTemplate(text) && s.takesEnv() {
			c.templates[text] = t
			c.all = append(c.all, t.refs...)
		}
	}
	return c, faults
}

// pathOf returns the path of a step: steps[2].
func (d *Definition) pathOf(s *Step) string {
	for i := range d.Steps {
		if &d.Steps[i] == s {
			return item("steps", i)
		}
	}
	return "steps." + s.Key
}

// faultAt makes a fault at a path. A path that is not in the file has the place of the
// nearest one above it.
func (d *Definition) faultAt(path, next, format string, args ...any) Fault {
	f := Fault{File: d.file, Path: path, What: fmt.Sprintf(format, args...), Next: next}
	for at := path; ; {
		if p, ok := d.where[at]; ok {
			f.Line, f.Column = p.line, p.column
			return f
		}
		cut := strings.LastIndexAny(at, ".[")
		if cut < 0 {
			if p, ok := d.where[""]; ok {
				f.Line, f.Column = p.line, p.column
			}
			return f
		}
		at = at[:cut]
	}
}

// faultIn makes a fault at an offset inside a text if the file contains the text
// literally, else at its beginning.
func (d *Definition) faultIn(path, text string, offset int, next, format string, args ...any) Fault {
	f := d.faultAt(path, next, format, args...)
	if _, ok := d.where[path]; !ok || offset < 0 || offset > len(text) {
		return f
	}
	before := text[:offset]
	row := strings.Count(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if line := d.line(f.Line); row == 0 {
		rest := line[byteOffset(line, f.Column-1):]
		for _, quote := range []string{"", `"`, `'`} {
			if tail, ok := strings.CutPrefix(rest, quote); ok && strings.HasPrefix(tail, text[:min(len(text), offset+1)]) {
				f.Column += len([]rune(quote + before))
				return f
			}
		}
	}
	line := d.line(f.Line + 1 + row) // a block: | and the text below it
	if whole, _, _ := strings.Cut(text[offset-len(before):], "\n"); whole != "" {
		if at := strings.Index(line, whole); at >= 0 && strings.TrimSpace(line[:at]) == "" {
			f.Line, f.Column = f.Line+1+row, len([]rune(line[:at]+before))+1
		}
	}
	return f
}

// line returns a line of the file, counted from 1.
func (d *Definition) line(number int) string {
	if number < 1 || number > len(d.lines) {
		return ""
	}
	return strings.TrimSuffix(d.lines[number-1], "\r")
}
