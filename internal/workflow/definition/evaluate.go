package definition

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/weirhq/weir/internal/pattern"
)

var operators = []string{
	"and", "&&", "or", "||", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "**", "^",
	"in", "contains", "startsWith", "endsWith", "matches", "..", "??",
}

// evaluation is one run of an expression.
type evaluation struct {
	*budget
	env  map[string]any
	vars map[string]any
	// item and index are # and #index of the innermost loop.
	item  any
	index int64
}

// evaluate returns the value of the expression over env.
func (e *expression) evaluate(env map[string]any) (any, error) {
	run := &evaluation{budget: newBudget(), env: env}
	return run.eval(e.root)
}

// truth is for `when`: the value must be true or false, so that a type error neither runs
// nor skips a step.
func (e *expression) truth(env map[string]any) (bool, error) {
	v, err := e.evaluate(env)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("it gives %s, not true or false", word(v))
	}
	return b, nil
}

func (e *evaluation) eval(n ast.Node) (any, error) {
	if err := e.spend(1); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode:
		return int64(n.Value), nil
	case *ast.FloatNode:
		return whole(n.Value), nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.PointerNode:
		if n.Name == "index" {
			return e.index, nil
		}
		return e.item, nil
	case *ast.IdentifierNode:
		if v, ok := e.vars[n.Value]; ok {
			return v, nil
		}
		return lookup(e.env, n.Value, "the expression's data")
	case *ast.ChainNode:
		v, err := e.eval(n.Node)
		if errors.Is(err, errAbsent) {
			return nil, nil
		}
		return v, err
	case *ast.MemberNode:
		return e.member(n)
	case *ast.SliceNode:
		return e.slice(n)
	case *ast.UnaryNode:
		return e.unary(n)
	case *ast.BinaryNode:
		return e.binary(n)
	case *ast.ConditionalNode:
		cond, err := e.bool(n.Cond, "the condition before ?")
		if err != nil {
			return nil, err
		}
		if cond {
			return e.eval(n.Exp1)
		}
		return e.eval(n.Exp2)
	case *ast.ArrayNode:
		return e.all(n.Nodes)
	case *ast.MapNode:
		return e.mapping(n)
	case *ast.VariableDeclaratorNode:
		return e.let(n)
	case *ast.PredicateNode:
		return e.eval(n.Node)
	case *ast.BuiltinNode:
		return e.builtin(n.Name, n.Arguments)
	case *ast.CallNode:
		return e.builtin(n.Callee.(*ast.IdentifierNode).Value, n.Arguments)
	default: // nil; the checker accepts nothing else
		return nil, nil
	}
}

// errAbsent ends a ?. chain whose value does not exist.
var errAbsent = errors.New("absent")

func (e *evaluation) member(n *ast.MemberNode) (any, error) {
	base, err := e.eval(n.Node)
	if err != nil {
		if n.Optional && errors.Is(err, errMissing) {
			return nil, errAbsent
		}
		return nil, err
	}
	key, err := e.eval(n.Property)
	if err != nil {
		return nil, err
	}
	v, err := lookup(base, key, n.Node.String())
	if n.Optional && errors.Is(err, errMissing) {
		return nil, errAbsent
	}
	return v, err
}

func (e *evaluation) let(n *ast.VariableDeclaratorNode) (any, error) {
	v, err := e.eval(n.Value)
	if err != nil {
		return nil, err
	}
	outer := e.vars
	e.vars = map[string]any{n.Name: v}
	for name, value := range outer {
		if name != n.Name {
			e.vars[name] = value
		}
	}
	v, err = e.eval(n.Expr)
	e.vars = outer
	return v, err
}

func (e *evaluation) all(nodes []ast.Node) ([]any, error) {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		v, err := e.eval(n)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (e *evaluation) mapping(n *ast.MapNode) (any, error) {
	out := make(map[string]any, len(n.Pairs))
	for _, p := range n.Pairs {
		pair := p.(*ast.PairNode)
		key, err := e.eval(pair.Key)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("a key of a mapping is text, not %s", word(key))
		}
		if out[name], err = e.eval(pair.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e *evaluation) slice(n *ast.SliceNode) (any, error) {
	v, err := e.eval(n.Node)
	if err != nil {
		return nil, err
	}
	size := 0
	switch v := v.(type) {
	case []any:
		size = len(v)
	case string:
		size = len(v)
	default:
		return nil, fmt.Errorf("%s has no parts", word(v))
	}
	bound := func(n ast.Node, other int) (int, error) {
		if n == nil {
			return other, nil
		}
		at, err := e.eval(n)
		if err != nil {
			return 0, err
		}
		i, ok := at.(int64)
		if !ok {
			return 0, fmt.Errorf("a part is cut by numbers, not by %s", word(at))
		}
		if i < 0 {
			i += int64(size)
		}
		return int(min(max(i, 0), int64(size))), nil
	}
	from, err := bound(n.From, 0)
	if err != nil {
		return nil, err
	}
	to, err := bound(n.To, size)
	if err != nil {
		return nil, err
	}
	from = min(from, to)
	if s, ok := v.(string); ok {
		return strings.ToValidUTF8(s[from:to], ""), e.text(to - from)
	}
	return v.([]any)[from:to:to], nil
}

func (e *evaluation) bool(n ast.Node, what string) (bool, error) {
	v, err := e.eval(n)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s is %s, not true or false", what, word(v))
	}
	return b, nil
}

func (e *evaluation) unary(n *ast.UnaryNode) (any, error) {
	if n.Operator == "!" || n.Operator == "not" {
		b, err := e.bool(n.Node, "what "+n.Operator+" turns round")
		return !b, err
	}
	v, err := e.eval(n.Node)
	if err != nil {
		return nil, err
	}
	if n.Operator == "-" {
		return arithmetic("-", int64(0), v)
	}
	return arithmetic("+", int64(0), v)
}

func (e *evaluation) binary(n *ast.BinaryNode) (any, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, err := e.bool(n.Left, "the left side of "+n.Operator)
		if err != nil || left == (n.Operator == "or" || n.Operator == "||") {
			return left, err
		}
		return e.bool(n.Right, "the right side of "+n.Operator)
	case "??":
		left, err := e.eval(n.Left)
		if err != nil && !errors.Is(err, errMissing) && !errors.Is(err, errAbsent) {
			return nil, err
		}
		if err == nil && left != nil {
			return left, nil
		}
		return e.eval(n.Right)
	}
	left, err := e.eval(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := e.eval(n.Right)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "==", "!=":
		eq, err := same(e.budget, left, right)
		return eq == (n.Operator == "=="), err
	case "<", ">", "<=", ">=":
		c, err := compare(left, right)
		if err != nil {
			return nil, err
		}
		return map[string]bool{"<": c < 0, ">": c > 0, "<=": c <= 0, ">=": c >= 0}[n.Operator], nil
	case "in":
		return e.in(left, right)
	}
	left, right = plain(left), plain(right)
	switch n.Operator {
	case "..":
		return e.span(left, right)
	case "contains", "startsWith", "endsWith", "matches":
		return e.search(n.Operator, left, right)
	default:
		if s, ok := left.(string); ok && n.Operator == "+" {
			if t, ok := right.(string); ok {
				if err := e.text(len(s) + len(t)); err != nil {
					return nil, err
				}
				return s + t, nil
			}
		}
		return arithmetic(n.Operator, left, right)
	}
}

func (e *evaluation) in(v, where any) (any, error) {
	switch where := where.(type) {
	case nil:
		return false, nil
	case []any:
		for _, one := range where {
			if eq, err := same(e.budget, v, one); eq || err != nil {
				return eq, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := plain(v).(string)
		if !ok {
			return false, nil
		}
		_, ok = where[key]
		return ok, nil
	default:
		return nil, fmt.Errorf("in wants a list or a mapping, got %s", word(where))
	}
}

func (e *evaluation) span(from, to any) (any, error) {
	first, ok1 := from.(int64)
	last, ok2 := to.(int64)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf(".. wants whole numbers, got %s and %s", word(from), word(to))
	}
	if last < first {
		return []any{}, nil
	}
	if n := uint64(last) - uint64(first); n > 1_000_000 { // #nosec G115 -- last ≥ first, so the difference fits
		return nil, fmt.Errorf("%d..%d has too many numbers", first, last)
	}
	if err := e.spend(int(last - first + 1)); err != nil {
		return nil, err
	}
	out := make([]any, 0, last-first+1)
	for i := range last - first + 1 {
		out = append(out, first+i)
	}
	return out, nil
}

func (e *evaluation) search(op string, left, right any) (any, error) {
	s, ok1 := left.(string)
	t, ok2 := right.(string)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%s wants text, got %s and %s", op, word(left), word(right))
	}
	if err := e.spend((len(s) + len(t)) / 16); err != nil {
		return nil, err
	}
	switch op {
	case "contains":
		return strings.Contains(s, t), nil
	case "startsWith":
		return strings.HasPrefix(s, t), nil
	case "endsWith":
		return strings.HasSuffix(s, t), nil
	}
	cost, err := pattern.Cost(t)
	if err != nil {
		return nil, err
	}
	// A pattern is slower than a search, and is compiled each time.
	if err := e.spend(len(s)*(1+cost/50) + 50*len(t) + 10*cost); err != nil {
		return nil, err
	}
	compiled, err := pattern.Regexp(t)
	if err != nil {
		return nil, err
	}
	return compiled.MatchString(s), nil
}

// arithmetic keeps integers as integers, except for / and **, which make fractions.
func arithmetic(op string, x, y any) (any, error) {
	i, ok1 := x.(int64)
	j, ok2 := y.(int64)
	if ok1 && ok2 {
		switch op {
		case "+":
			if s := i + j; (s > i) == (j > 0) {
				return s, nil
			}
			return nil, errors.New("the number is too large")
		case "-":
			if s := i - j; (s < i) == (j > 0) {
				return s, nil
			}
			return nil, errors.New("the number is too large")
		case "*":
			if p := i * j; i == 0 || p/i == j && (i != -1 || j != math.MinInt64) {
				return p, nil
			}
			return nil, errors.New("the number is too large")
		case "%":
			if j == 0 {
				return nil, errors.New("there is no rest of a division by 0")
			}
			return i % j, nil
		}
	}
	f, ok1 := toFloat(x)
	g, ok2 := toFloat(y)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%s wants numbers, got %s and %s", op, word(x), word(y))
	}
	switch op {
	case "+":
		f += g
	case "-":
		f -= g
	case "*":
		f *= g
	case "/":
		f /= g
	case "**", "^":
		f = math.Pow(f, g)
	default:
		return nil, fmt.Errorf("%s wants whole numbers", op)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the number is too large, or a division by 0")
	}
	return whole(f), nil
}
