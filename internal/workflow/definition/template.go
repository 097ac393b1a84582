package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"
)

// maxTemplate is how long a text with {{ }} may be. Text without templates is bounded
// only by its params.
const maxTemplate = 64 << 10

// template is a text with {{ … }}. The syntax is that of text/template, but only
// pipelines: no branches, no loops, no variables, so that a template always ends and a
// reader sees what it reads.
type template struct {
	source string
	parts  []parse.Node // TextNode or PipeNode
	refs   []ref
}

// templateFault says where in the text a template is wrong.
type templateFault struct {
	offset     int
	what, next string
}

func (f *templateFault) Error() string { return f.what }

func isTemplate(s string) bool { return strings.Contains(s, "{{") }

var (
	// parseError matches the name and line in an error of text/template, which are
	// removed because they refer only to the text.
	parseError  = regexp.MustCompile(`^template: [^:]*:(\d+): `)
	hyphenated  = regexp.MustCompile(`\.needs\.([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)+)`)
	errTemplate = "a template is {{ .params.x }}, with | and functions"
)

// parseTemplate checks a text with {{ }}.
func parseTemplate(source string) (*template, error) {
	if len(source) > maxTemplate {
		return nil, &templateFault{0, fmt.Sprintf("a template of %d bytes is over the limit of 64 KiB", len(source)), "give the text as a param and read that"}
	}
	known := map[string]any{}
	for name := range functions {
		known[name] = true
	}
	trees, err := parse.Parse("t", source, "{{", "}}", known)
	if err != nil {
		return nil, explainTemplate(source, err)
	}
	t := &template{source: source}
	tree := trees["t"]
	if len(trees) > 1 || tree == nil || tree.Root == nil {
		if len(trees) <= 1 { // nothing but a comment
			return t, nil
		}
		return nil, &templateFault{0, "a template defines no other templates", errTemplate}
	}
	for _, n := range tree.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			t.parts = append(t.parts, n)
		case *parse.ActionNode:
			if err := t.pipe(n.Pipe); err != nil {
				return nil, err
			}
			t.parts = append(t.parts, n.Pipe)
		default:
			keyword, _, _ := strings.Cut(strings.Trim(n.String(), "{} -"), " ")
			return nil, &templateFault{int(n.Position()), fmt.Sprintf("{{ %s }} is not part of this language", keyword), "decide with when:, repeat with map:; " + errTemplate}
		}
	}
	return t, nil
}

func explainTemplate(source string, err error) error {
	f := &templateFault{offset: strings.Index(source, "{{"), next: errTemplate}
	what := err.Error()
	if m := parseError.FindStringSubmatch(what); m != nil {
		what = what[len(m[0]):]
		if line, err := strconv.Atoi(m[1]); err == nil && line > 1 {
			f.offset = nthLine(source, line)
		}
	}
	f.what = "the template is wrong: " + what
	if name, ok := strings.CutSuffix(what, " not defined"); ok {
		name = strings.Trim(strings.TrimPrefix(name, "function "), `"`)
		f.what = fmt.Sprintf("there is no function %q", name)
		if f.next = Meant(name, sortedKeys(functions)); f.next == "" {
			f.next = "the functions are " + strings.Join(sortedKeys(functions), ", ") + "; a value begins with a dot: {{ .params.x }}"
		}
		if at := strings.Index(source, name); at >= 0 {
			f.offset = at
		}
	}
	if m := hyphenated.FindStringSubmatchIndex(source); m != nil && strings.Contains(what, "bad character") {
		f.offset = m[0]
		f.next = fmt.Sprintf(`a key with a hyphen is read by index: {{ (index .needs %q).result }}`, source[m[2]:m[3]])
	}
	if strings.Contains(what, "unclosed action") || strings.Contains(what, "unexpected EOF") {
		f.what, f.next = "the template is not closed", "end it with }}"
	}
	return f
}

// nthLine returns the offset at which a line begins.
func nthLine(s string, line int) int {
	at := 0
	for range line - 1 {
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return at
}

// pipe checks a pipeline and records what it reads.
func (t *template) pipe(p *parse.PipeNode) error {
	if len(p.Decl) > 0 {
		return &templateFault{int(p.Position()), "a template has no variables", errTemplate}
	}
	for i, c := range p.Cmds {
		if err := t.command(c, i > 0); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) command(c *parse.CommandNode, piped bool) error {
	name, isCall := c.Args[0].(*parse.IdentifierNode)
	if isCall {
		f := functions[name.Ident]
		n := len(c.Args) - 1
		if piped {
			n++
		}
		if n < f.least || n > f.most {
			return &templateFault{int(name.Position()), fmt.Sprintf("%s wants %s, got %d", name.Ident, f.wants(), n), "see: " + f.usage}
		}
	} else if piped || len(c.Args) > 1 {
		return &templateFault{int(c.Position()), fmt.Sprintf("%s is not a function", c.Args[0]), "only a function takes arguments: {{ .params.x | default \"a\" }}"}
	}
	if isCall && name.Ident == "index" && len(c.Args) > 1 {
		return t.index(c)
	}
	args := c.Args
	if isCall {
		args = args[1:]
	}
	for _, arg := range args {
		if err := t.argument(arg); err != nil {
			return err
		}
	}
	return nil
}

// index records what its first argument and the literals after it name together.
func (t *template) index(c *parse.CommandNode) error {
	before := len(t.refs)
	for _, arg := range c.Args[1:] {
		if err := t.argument(arg); err != nil {
			return err
		}
	}
	if base, ok := c.Args[1].(*parse.FieldNode); ok && len(t.refs) > before {
		path := append([]string(nil), base.Ident...)
		for _, arg := range c.Args[2:] {
			s, ok := arg.(*parse.StringNode)
			if !ok {
				break
			}
			path = append(path, s.Text)
		}
		t.refs[before].path = path
	}
	return nil
}

func (t *template) argument(n parse.Node) error {
	switch n := n.(type) {
	case *parse.FieldNode:
		t.refs = append(t.refs, ref{n.Ident, t.begin(n)})
	case *parse.ChainNode:
		before := len(t.refs)
		if err := t.argument(n.Node); err != nil {
			return err
		}
		if len(t.refs) == before+1 { // (index .needs "a").result
			t.refs[before].path = append(t.refs[before].path[:len(t.refs[before].path):len(t.refs[before].path)], n.Field...)
		}
	case *parse.PipeNode:
		return t.pipe(n)
	case *parse.IdentifierNode:
		return &templateFault{int(n.Position()), fmt.Sprintf("the function %s is not a value", n.Ident), fmt.Sprintf("a value begins with a dot: .%s; a call inside a call is in brackets: (%s …)", n.Ident, n.Ident)}
	case *parse.StringNode, *parse.BoolNode, *parse.NilNode:
	case *parse.NumberNode:
		if _, err := literal(n); err != nil {
			return &templateFault{int(n.Position()), err.Error(), "write it as text"}
		}
	default:
		return &templateFault{int(n.Position()), fmt.Sprintf("%s stands for everything", n), "say which value: {{ .params.x }}"}
	}
	return nil
}

// begin returns where a field begins: for .a.b the parser returns the position of .b.
func (t *template) begin(n *parse.FieldNode) int {
	at, first := int(n.Position()), "."+n.Ident[0]
	if len(n.Ident) > 1 && at >= len(first) && at <= len(t.source) && t.source[at-len(first):at] == first {
		return at - len(first)
	}
	return at
}

func literal(n *parse.NumberNode) (any, error) {
	switch {
	case n.IsInt:
		return n.Int64, nil
	case n.IsFloat:
		return whole(n.Float64), nil
	default:
		return nil, fmt.Errorf("%s is no number that JSON has", n.Text)
	}
}

// render returns the value of a template: that of its pipeline, with its type, if it is
// nothing else; text otherwise.
func (t *template) render(env map[string]any, b *budget) (any, error) {
	if len(t.parts) == 1 {
		if pipe, ok := t.parts[0].(*parse.PipeNode); ok {
			return evalPipe(pipe, env, b)
		}
	}
	var out strings.Builder
	for _, part := range t.parts {
		var piece string
		switch part := part.(type) {
		case *parse.TextNode:
			piece = string(part.Text)
		case *parse.PipeNode:
			v, err := evalPipe(part, env, b)
			if err != nil {
				return nil, err
			}
			if _, err := b.weigh(v); err != nil {
				return nil, err
			}
			piece = show(v)
		}
		if err := b.text(out.Len() + len(piece)); err != nil {
			return nil, err
		}
		out.WriteString(piece)
	}
	return out.String(), nil
}

func evalPipe(p *parse.PipeNode, env map[string]any, b *budget) (value any, err error) {
	var piped []any
	for i, c := range p.Cmds {
		value, err = evalCommand(c, piped, env, b)
		if errors.Is(err, errMissing) && i+1 < len(p.Cmds) && isDefault(p.Cmds[i+1]) {
			value, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		piped = []any{value}
	}
	return value, nil
}

func isDefault(c *parse.CommandNode) bool {
	name, ok := c.Args[0].(*parse.IdentifierNode)
	return ok && name.Ident == "default"
}

func evalCommand(c *parse.CommandNode, piped []any, env map[string]any, b *budget) (any, error) {
	name, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		return evalArgument(c.Args[0], env, b)
	}
	args := make([]any, 0, len(c.Args))
	for _, arg := range c.Args[1:] {
		v, err := evalArgument(arg, env, b)
		if errors.Is(err, errMissing) && name.Ident == "default" {
			v, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	v, err := functions[name.Ident].run(name.Ident, b, append(args, piped...))
	if err != nil && !errors.Is(err, errMissing) {
		err = fmt.Errorf("%s: %w", name.Ident, err)
	}
	return v, err
}

func evalArgument(n parse.Node, env map[string]any, b *budget) (any, error) {
	if err := b.spend(1); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *parse.FieldNode:
		return walk(env, n.Ident, "")
	case *parse.ChainNode:
		v, err := evalArgument(n.Node, env, b)
		if err != nil {
			return nil, err
		}
		return walk(v, n.Field, n.Node.String())
	case *parse.PipeNode:
		return evalPipe(n, env, b)
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return literal(n)
	case *parse.BoolNode:
		return n.True, nil
	default:
		return nil, nil
	}
}

// walk follows fields: params, width.
func walk(v any, fields []string, path string) (any, error) {
	for _, key := range fields {
		var err error
		name := path
		if name == "" {
			name = "the template's data"
		}
		if v, err = lookup(v, key, name); err != nil {
			return nil, err
		}
		path += "." + key
	}
	return v, nil
}
