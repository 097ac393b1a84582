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

var parserPrefix = regexp.MustCompile(`(?s) \(\d+:\d+\).*$`)

func explainExpression(source string, err error) error {
	f := &templateFault{what: "the expression is wrong: " + parserPrefix.ReplaceAllString(err.Error(), ""), next: "an expression is params.x > 3 && needs.scan.result.ok; text is in quotes"}
	if at, ok := errors.AsType[*file.Error](err); ok {
		f.what = "the expression is wrong: " + at.Message
		f.offset = byteOffset(source, at.From)
	}
	switch {
	case strings.Contains(f.what, "unexpected token Operator(\"=\")"):
		f.next = "compare with =="
	case strings.Contains(f.what, "unexpected token EOF"):
		f.next = "it ends too early: something is missing on the right"
	case strings.Contains(f.what, "maximum allowed nodes"):
		f.next = "let a step decide and read its result"
	}
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
			if _, known := plainBuiltins[name.Value]; known { // count without a predicate and the like
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
	if len(n.Arguments) < f.least || len(n.Arguments) > f.most {
		return c.fault(n, "see: "+f.usage, "%s wants %s, got %d", n.Name, f.wants(), len(n.Arguments))
	}
	return all(n.Arguments...)
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
