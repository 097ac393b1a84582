package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// plainBuiltins are the functions of expressions that take values.
var plainBuiltins map[string]function

// loopBuiltins take a list and an expression that is evaluated for each item.
var loopBuiltins map[string]func(l *loop) (any, error)

func init() {
	plainBuiltins = map[string]function{
		"len":       {1, 1, "len(list)", length},
		"first":     {1, 1, "first(list)", edge(0)},
		"last":      {1, 1, "last(list)", edge(-1)},
		"keys":      {1, 1, "keys(mapping)", func(b *budget, args []any) (any, error) { return pick(b, args[0], true) }},
		"values":    {1, 1, "values(mapping)", func(b *budget, args []any) (any, error) { return pick(b, args[0], false) }},
		"get":       {2, 2, "get(mapping, key)", get},
		"min":       {1, 10, "min(a, b)", extreme(-1)},
		"max":       {1, 10, "max(a, b)", extreme(1)},
		"sum":       {1, 1, "sum(list)", sum},
		"abs":       {1, 1, "abs(n)", onNumber(math.Abs)},
		"ceil":      {1, 1, "ceil(n)", onNumber(math.Ceil)},
		"floor":     {1, 1, "floor(n)", onNumber(math.Floor)},
		"round":     {1, 1, "round(n)", onNumber(math.Round)},
		"int":       {1, 1, "int(x)", asInt},
		"float":     {1, 1, "float(x)", asFloat},
		"string":    {1, 1, "string(x)", asText},
		"trim":      {1, 1, "trim(text)", onText(strings.TrimSpace)},
		"upper":     {1, 1, "upper(text)", onText(strings.ToUpper)},
		"lower":     {1, 1, "lower(text)", onText(strings.ToLower)},
		"split":     {2, 2, `split(text, ",")`, func(b *budget, args []any) (any, error) { return splitText(b, []any{args[1], args[0]}) }},
		"join":      {2, 2, `join(list, ",")`, func(b *budget, args []any) (any, error) { return joinTexts(b, []any{args[1], args[0]}) }},
		"hasPrefix": {2, 2, `hasPrefix(text, "a")`, onTexts(strings.HasPrefix)},
		"hasSuffix": {2, 2, `hasSuffix(text, "a")`, onTexts(strings.HasSuffix)},
		"concat":    {1, 10, "concat(list, list)", concat},
		"reverse":   {1, 1, "reverse(list)", onList(func(l []any) ([]any, error) { slices.Reverse(l); return l, nil })},
		"sort":      {1, 1, "sort(list)", onList(sorted)},
		"uniq":      {1, 1, "uniq(list)", uniq},
		"flatten":   {1, 1, "flatten(lists)", flatten},
		"toJSON":    {1, 1, "toJSON(x)", asJSON},
		"fromJSON":  {1, 1, "fromJSON(text)", fromJSON},
	}
	for _, f := range momentFunctions {
		plainBuiltins[f.name] = function{f.least, f.most, f.expression, piped(f.call)}
	}
	loopBuiltins = map[string]func(l *loop) (any, error){
		"all":       func(l *loop) (any, error) { i, err := l.find(false); return i < 0, err },
		"any":       func(l *loop) (any, error) { i, err := l.find(true); return i >= 0, err },
		"none":      func(l *loop) (any, error) { i, err := l.find(true); return i < 0, err },
		"one":       func(l *loop) (any, error) { kept, err := l.filter(); return len(kept) == 1, err },
		"filter":    func(l *loop) (any, error) { return anyList(l.filter()) },
		"count":     func(l *loop) (any, error) { kept, err := l.filter(); return int64(len(kept)), err },
		"map":       func(l *loop) (any, error) { return anyList(l.each()) },
		"find":      (*loop).first,
		"findIndex": func(l *loop) (any, error) { i, err := l.find(true); return int64(i), err },
		"sum":       (*loop).sum,
		"sortBy":    (*loop).sortBy,
		"groupBy":   (*loop).groupBy,
	}
}

func anyList(list []any, err error) (any, error) { return list, err }

// builtin calls a function by name.
func (e *evaluation) builtin(name string, args []ast.Node) (any, error) {
	v, err := e.call(name, args)
	if err != nil && !errors.Is(err, errMissing) && !errors.Is(err, errAbsent) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

func (e *evaluation) call(name string, args []ast.Node) (any, error) {
	run, loops := loopBuiltins[name]
	f, plain := plainBuiltins[name]
	if loops && (len(args) > 1 || !plain) {
		of, err := e.eval(args[0])
		if err != nil {
			return nil, err
		}
		items, ok := of.([]any)
		if !ok {
			return nil, fmt.Errorf("wants a list, got %s", word(of))
		}
		l := &loop{evaluation: e, items: items}
		if len(args) > 1 {
			l.body = args[1]
		}
		return run(l)
	}
	values, err := e.all(args)
	if err != nil {
		return nil, err
	}
	return f.run(name, e.budget, values)
}

// loop evaluates its body for each item.
type loop struct {
	*evaluation
	items []any
	body  ast.Node // nil: the item itself
}

// ask evaluates the body with # as the item.
func (l *loop) ask(i int) (any, error) {
	if err := l.spend(1); err != nil {
		return nil, err
	}
	if l.body == nil {
		return l.items[i], nil
	}
	item, index := l.item, l.index
	l.item, l.index = l.items[i], int64(i)
	v, err := l.eval(l.body)
	l.item, l.index = item, index
	return v, err
}

func (l *loop) test(i int) (bool, error) {
	v, err := l.ask(i)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("what it asks of an item gives %s, not true or false", word(v))
	}
	return b, nil
}

// find returns the first item for which the body has the given value, or -1.
func (l *loop) find(says bool) (int, error) {
	for i := range l.items {
		if b, err := l.test(i); err != nil || b == says {
			return i, err
		}
	}
	return -1, nil
}

func (l *loop) first() (any, error) {
	i, err := l.find(true)
	if err != nil || i < 0 {
		return nil, err
	}
	return l.items[i], nil
}

func (l *loop) filter() ([]any, error) {
	kept := []any{}
	for i := range l.items {
		b, err := l.test(i)
		if err != nil {
			return nil, err
		}
		if b {
			kept = append(kept, l.items[i])
		}
	}
	return kept, nil
}

func (l *loop) each() ([]any, error) {
	out := make([]any, len(l.items))
	for i := range l.items {
		v, err := l.ask(i)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (l *loop) sum() (any, error) {
	list, err := l.each()
	if err != nil {
		return nil, err
	}
	return sum(l.budget, []any{list})
}

func (l *loop) sortBy() (any, error) {
	keys, err := l.each()
	if err != nil {
		return nil, err
	}
	type row struct{ key, item any }
	rows := make([]row, len(keys))
	for i := range rows {
		rows[i] = row{keys[i], l.items[i]}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if err != nil {
			return 0
		}
		n, failed := compare(a.key, b.key)
		err = failed
		return n
	})
	out := make([]any, len(rows))
	for i := range rows {
		out[i] = rows[i].item
	}
	return out, err
}

func (l *loop) groupBy() (any, error) {
	out := map[string]any{}
	for i := range l.items {
		key, err := l.ask(i)
		if err != nil {
			return nil, err
		}
		if _, err := l.weigh(key); err != nil {
			return nil, err
		}
		group, _ := out[show(key)].([]any)
		out[show(key)] = append(group, l.items[i])
	}
	return out, nil
}

func edge(i int64) func(*budget, []any) (any, error) {
	return func(_ *budget, args []any) (any, error) {
		list, ok := args[0].([]any)
		if !ok {
			return nil, fmt.Errorf("wants a list, got %s", word(args[0]))
		}
		if len(list) == 0 {
			return nil, nil
		}
		return lookup(list, i, "the list")
	}
}

func pick(b *budget, v any, keys bool) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("wants a mapping, got %s", word(v))
	}
	out := make([]any, 0, len(m))
	for _, key := range sortedKeys(m) {
		if keys {
			out = append(out, key)
		} else {
			out = append(out, m[key])
		}
	}
	return out, b.spend(len(m))
}

func get(_ *budget, args []any) (any, error) {
	v, err := lookup(args[0], args[1], "the value")
	if errors.Is(err, errMissing) {
		return nil, nil
	}
	return v, err
}

func extreme(sign int) func(*budget, []any) (any, error) {
	return func(b *budget, args []any) (any, error) {
		if list, ok := args[0].([]any); ok && len(args) == 1 {
			args = list
		}
		if len(args) == 0 {
			return nil, nil
		}
		best := args[0]
		for _, v := range args {
			n, err := compare(v, best)
			if err != nil {
				return nil, err
			}
			if n == sign {
				best = v
			}
		}
		return best, b.spend(len(args))
	}
}

func sum(b *budget, args []any) (any, error) {
	list, ok := args[0].([]any)
	if !ok {
		return nil, fmt.Errorf("wants a list, got %s", word(args[0]))
	}
	var total any = int64(0)
	for _, v := range list {
		var err error
		if total, err = arithmetic("+", total, v); err != nil {
			return nil, err
		}
	}
	return total, b.spend(len(list))
}

func onNumber(f func(float64) float64) func(*budget, []any) (any, error) {
	return func(_ *budget, args []any) (any, error) {
		n, ok := toFloat(args[0])
		if !ok {
			return nil, fmt.Errorf("wants a number, got %s", word(args[0]))
		}
		return whole(f(n)), nil
	}
}

func asFloat(_ *budget, args []any) (any, error) {
	if s, ok := args[0].(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%q is no number", clip(s))
		}
		return whole(f), nil
	}
	if _, ok := toFloat(args[0]); !ok {
		return nil, fmt.Errorf("%s is no number", word(args[0]))
	}
	return args[0], nil
}

func onTexts(f func(s, t string) bool) func(*budget, []any) (any, error) {
	return func(b *budget, args []any) (any, error) {
		s, err := texts(args)
		if err != nil {
			return nil, err
		}
		return f(s[0], s[1]), b.spend(len(s[1]) / 16)
	}
}

// onList works on a copy because the caller may still use the list.
func onList(f func([]any) ([]any, error)) func(*budget, []any) (any, error) {
	return func(b *budget, args []any) (any, error) {
		list, ok := args[0].([]any)
		if !ok {
			return nil, fmt.Errorf("wants a list, got %s", word(args[0]))
		}
		if err := b.spend(len(list)); err != nil {
			return nil, err
		}
		return anyList(f(slices.Clone(list)))
	}
}

func sorted(list []any) ([]any, error) {
	var err error
	slices.SortStableFunc(list, func(a, b any) int {
		if err != nil {
			return 0
		}
		n, failed := compare(a, b)
		err = failed
		return n
	})
	return list, err
}

func concat(b *budget, args []any) (any, error) {
	out := []any{}
	for _, arg := range args {
		list, ok := arg.([]any)
		if !ok {
			return nil, fmt.Errorf("wants lists, got %s", word(arg))
		}
		if err := b.spend(len(list)); err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// flatten joins the lists of a list, one level of them. What is no list stays an item.
func flatten(b *budget, args []any) (any, error) {
	list, ok := args[0].([]any)
	if !ok {
		return nil, fmt.Errorf("wants a list, got %s", word(args[0]))
	}
	out := []any{}
	for _, one := range list {
		inner, ok := one.([]any)
		if !ok {
			inner = []any{one}
		}
		if err := b.spend(1 + len(inner)); err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

func uniq(b *budget, args []any) (any, error) {
	list, ok := args[0].([]any)
	if !ok {
		return nil, fmt.Errorf("wants a list, got %s", word(args[0]))
	}
	out, seen := []any{}, map[string]bool{}
	for _, v := range list {
		if _, err := b.weigh(v); err != nil {
			return nil, err
		}
		key := string(encode(v))
		if !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out, nil
}

func fromJSON(b *budget, args []any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("wants text, got %s", word(args[0]))
	}
	if err := b.spend(len(s)); err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, fmt.Errorf("the text is not JSON: %w", err)
	}
	return tidy(v), nil
}
