package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

const (
	maxExpression = 4 << 10 // bytes
	maxNodes      = 1000
)

// expression is `when` or `map.over`. The grammar is that of expr, but the evaluation is
// this package's own (evaluate.go), because that of expr cannot be stopped: three nested
// loops over a result would block the planner for hours.
type expression struct {
	source string
	root   ast.Node
	refs   []ref
}

func parseExpression(source string) (e *expression, err error) {
	if strings.Contains(source, "{{") {
		return nil, &templateFault{strings.Index(source, "{{"), "an expression has no {{ }}", "write the value alone: params.x > 3"}
	}
	if len(source) > maxExpression {
		return nil, &templateFault{0, fmt.Sprintf("an expression of %d bytes is over the limit of 4 KiB", len(source)), "let a step decide and read its result"}
	}
	defer func() { // a bug of the parser must not end the server
		if bug := recover(); bug != nil {
			e, err = nil, &templateFault{0, "the expression cannot be read", "write it in a simpler way"}
		}
	}()
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, explainExpression(source, err)
	}
	e = &expression{source: source, root: tree.Node}
	c := &checker{expression: e}
	if err := c.check(tree.Node, nil); err != nil {
		return nil, err
	}
	return e, nil
}

// tokenOf finds what the parser stumbled over: Operator("="), Identifier("x"), EOF.
var tokenOf = regexp.MustCompile(`unexpected token (\w+)(?:\("(.*)"\))?`)

// phrases of the parser, and what they mean to the author of an expression.
var phrases = []struct{ phrase, what, next string }{
	{"cannot be mixed. Wrap either", "?? beside another operator could be read in two ways", "use parentheses: (params.x ?? 0) > 3"},
	{"maximum allowed nodes", "the expression is too long", "let a step decide and read its result"},
	{"literal not terminated", "a text in quotes is not closed", `close it: "abc"`},
	{"escape", "a backslash in the text means nothing", `write \\ for a backslash`},
	{"unclosed comment", "a comment is not closed", "end it with */, or remove it"},
	{"unrecognized character", "a character that is no part of an expression", "text is in quotes: \"a@b\""},
	{"bad number syntax", "a number that cannot be read", "write 3, 0.5 or 1e6; text is in quotes"},
	{"invalid", "a number that cannot be read", "write 3, 0.5 or 1e6; text is in quotes"},
	{"is too large", "the number is too large", "write it as text, in quotes"},
	{"expected at least", "a function needs more arguments", "see docs/functions.md"},
	{"a map key must be", "a key of a mapping is a word or text in quotes", `write {"a": 1}`},
	{"expected name", "a name is missing after the dot", "write needs.scan.result; a key with a hyphen is needs[\"scan-all\"]"},
	{"wrap predicate", "what a function asks of each item is not clear", "put it in braces: filter(list, {# > 3})"},
	{"unexpected end", "it ends too early", "something is missing on the right"},
}

// explainExpression says in the words of this language what the parser refused. Its own
// text names types of the library, which help no author.
func explainExpression(source string, err error) error {
	f := &templateFault{what: "it cannot be read", next: "an expression is params.x > 3 && needs.scan.result.ok; text is in quotes"}
	said := err.Error()
	if at, ok := errors.AsType[*file.Error](err); ok {
		said, f.offset = at.Message, byteOffset(source, at.From)
	}
	if m := tokenOf.FindStringSubmatch(said); m != nil {
		f.what = fmt.Sprintf("%s is not expected here", m[2])
		switch {
		case m[1] == "EOF" && strings.TrimSpace(source) == "":
			f.what, f.next = "it is empty", "write params.x > 3, or leave it out"
		case m[1] == "EOF":
			f.what, f.next = "it ends too early", "something is missing on the right"
		case m[2] == "=":
			f.next = "compare with =="
		case m[2] == ":" && strings.Contains(source, "{"):
			f.next = "a mapping that a function makes of each item is in parentheses: map(list, ({name: #}))"
		case m[1] == "Identifier" || m[1] == "String" || m[1] == "Number":
			f.next = "an operator is missing before it: && or || or =="
		}
	} else {
		for _, p := range phrases {
			if strings.Contains(said, p.phrase) {
				f.what, f.next = p.what, p.next
				break
			}
		}
	}
	f.what = "the expression is wrong: " + f.what
	return f
}

// byteOffset converts an offset in characters, which the parser counts, to one in bytes.
func byteOffset(source string, characters int) int {
	for i := range source {
		if characters == 0 {
			return i
		}
		characters--
	}
	return len(source)
}

// checker refuses what the evaluator does not support, before anything runs, and records
// what is read.
type checker struct{ *expression }

func (c *checker) fault(n ast.Node, next, format string, args ...any) error {
	return &templateFault{byteOffset(c.source, n.Location().From), fmt.Sprintf(format, args...), next}
}

// check walks the tree. vars are the names defined by let.
func (c *checker) check(n ast.Node, vars []string) error {
	all := func(nodes ...ast.Node) error {
		for _, one := range nodes {
			if one == nil {
				continue
			}
			if err := c.check(one, vars); err != nil {
				return err
			}
		}
		return nil
	}
	switch n := n.(type) {
	case nil:
		return &templateFault{0, "the expression is empty", "write params.x > 3, or leave it out"}
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return nil
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			return c.fault(n, "there are # and #index", "there is no #%s", n.Name)
		}
		return nil
	case *ast.IdentifierNode, *ast.MemberNode:
		return c.reads(n, vars)
	case *ast.ChainNode:
		return all(n.Node)
	case *ast.UnaryNode:
		return all(n.Node)
	case *ast.BinaryNode:
		if !contains(operators, n.Operator) {
			return c.fault(n, "the operators are "+strings.Join(operators, " "), "there is no operator %s", n.Operator)
		}
		return all(n.Left, n.Right)
	case *ast.ConditionalNode:
		return all(n.Cond, n.Exp1, n.Exp2)
	case *ast.SliceNode:
		return all(n.Node, n.From, n.To)
	case *ast.ArrayNode:
		return all(n.Nodes...)
	case *ast.MapNode:
		return all(n.Pairs...)
	case *ast.PairNode:
		return all(n.Key, n.Value)
	case *ast.PredicateNode:
		return all(n.Node)
	case *ast.VariableDeclaratorNode:
		if err := all(n.Value); err != nil {
			return err
		}
		return c.check(n.Expr, append(vars[:len(vars):len(vars)], n.Name))
	case *ast.BuiltinNode:
		return c.builtin(n, all)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			if f, known := plainBuiltins[name.Value]; known {
				if err := c.fits(n, name.Value, f, n.Arguments); err != nil {
					return err
				}
				return all(n.Arguments...)
			}
			return c.unknown(n, name.Value)
		}
		return c.fault(n, "call a function by its name: len(x)", "a value has no functions")
	default:
		return c.fault(n, "write one expression that gives one value", "this is not part of the language")
	}
}

func (c *checker) unknown(n ast.Node, name string) error {
	words := append(sortedKeys(plainBuiltins), sortedKeys(loopBuiltins)...)
	next := Meant(name, words)
	if next == "" {
		next = "the functions are " + strings.Join(words, ", ")
	}
	return c.fault(n, next, "there is no function %q", name)
}

func (c *checker) builtin(n *ast.BuiltinNode, all func(...ast.Node) error) error {
	if _, ok := loopBuiltins[n.Name]; ok {
		return all(n.Arguments...)
	}
	f, ok := plainBuiltins[n.Name]
	if !ok {
		return c.unknown(n, n.Name)
	}
	if err := c.fits(n, n.Name, f, n.Arguments); err != nil {
		return err
	}
	return all(n.Arguments...)
}

// fits checks how many arguments a function is given.
func (c *checker) fits(n ast.Node, name string, f function, args []ast.Node) error {
	if len(args) < f.least || len(args) > f.most {
		return c.fault(n, "see: "+f.usage, "%s wants %s, got %d", name, f.wants(), len(args))
	}
	return nil
}

// reads records the path of a value: needs.scan.result from the member nodes.
func (c *checker) reads(n ast.Node, vars []string) error {
	var path []string
	for at := n; ; {
		switch m := at.(type) {
		case *ast.MemberNode:
			if m.Method {
				return c.fault(m, "call a function by its name: len(x)", "a value has no functions")
			}
			key, ok := m.Property.(*ast.StringNode)
			if ok {
				path = append([]string{key.Value}, path...)
			} else {
				path = nil
				if err := c.check(m.Property, vars); err != nil {
					return err
				}
			}
			at = m.Node
			continue
		case *ast.IdentifierNode:
			if contains(vars, m.Value) {
				return nil
			}
			c.refs = append(c.refs, ref{append([]string{m.Value}, path...), byteOffset(c.source, m.Location().From)})
			return nil
		case *ast.ChainNode:
			at = m.Node
			continue
		default:
			return c.check(at, vars)
		}
	}
}
