package definition

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
)

func data(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	err := json.Unmarshal([]byte(`{
		"params": {"n": 3, "f": 1.5, "s": "abc", "yes": true, "nil": null, "list": [3, 1, 2], "words": ["b", "a", "b"], "map": {"k": 1, "j": 2}, "json": "{\"a\":[1]}",
			"rows": [{"name": "x", "n": 1, "ok": true}, {"name": "y", "n": 2, "ok": false}, {"name": "z", "n": 1, "ok": true}]},
		"needs": {"scan": {"state": "done", "result": {"count": 3}}, "off": {"state": "skipped", "result": null}}
	}`), &v)
	if err != nil {
		t.Fatal(err)
	}
	return tidy(v).(map[string]any)
}

// TestExpression compares with the virtual machine of expr wherever both have an answer:
// the language is the same, the limits differ.
func TestExpression(t *testing.T) {
	env := data(t)
	for source, want := range map[string]any{
		`params.n > 2 && params.yes`:                  true,
		`params.n == 3.0 and not (params.s != "abc")`: true,
		`params.n + 1`:                                int64(4),
		`params.n / 2`:                                1.5,
		`params.n * params.f - 0.5`:                   int64(4),
		`7 % params.n`:                                int64(1),
		`2 ** 3`:                                      int64(8),
		`-params.n`:                                   int64(-3),
		`params.s + "d"`:                              "abcd",
		`params.s contains "b" || false`:              true,
		`params.s startsWith "a" && params.s endsWith "c"`: true,
		`params.s matches "^a.c$"`:                         true,
		`params.n in params.list`:                          true,
		`"k" in params.map`:                                true,
		`4 not in params.list`:                             true,
		`params.list[0]`:                                   int64(3),
		`params.list[-1]`:                                  int64(2),
		`params.list[1:]`:                                  []any{int64(1), int64(2)},
		`params.s[0:2]`:                                    "ab",
		`params["map"]["k"]`:                               int64(1),
		`params.nil ?? "other"`:                            "other",
		`needs.off.result?.count`:                          nil,
		`needs.off.result?.count ?? 0`:                     int64(0),
		`params.yes ? 1 : 2`:                               int64(1),
		`1..3`:                                             []any{int64(1), int64(2), int64(3)},
		`[1, "a", params.n]`:                               []any{int64(1), "a", int64(3)},
		`{"a": params.n}`:                                  map[string]any{"a": int64(3)},
		`len(params.list) + len(params.s) + len(params.map)`: int64(8),
		`all(params.list, # > 0)`:                            true,
		`any(params.list, # > 2)`:                            true,
		`none(params.list, # > 5)`:                           true,
		`one(params.list, # == 2)`:                           true,
		`count(params.rows, .ok)`:                            int64(2),
		`filter(params.list, # > 1)`:                         []any{int64(3), int64(2)},
		`map(params.rows, .name)`:                            []any{"x", "y", "z"},
		`params.rows | filter(.ok) | map(.n)`:                []any{int64(1), int64(1)},
		`map(params.list, # + #index)`:                       []any{int64(3), int64(2), int64(4)},
		`sum(params.list)`:                                   int64(6),
		`sum(params.rows, .n)`:                               int64(4),
		`find(params.rows, .n == 2).name`:                    "y",
		`findIndex(params.list, # == 2)`:                     int64(2),
		`map(sortBy(params.rows, .name), .n)`:                []any{int64(1), int64(2), int64(1)},
		`first(params.list) - last(params.list)`:             int64(1),
		`keys({"a": 1})`:                                     []any{"a"},
		`values({"a": 1})`:                                   []any{int64(1)},
		`get(params.map, "none")`:                            nil,
		`min(params.n, 2) + max(params.list)`:                int64(5),
		`abs(-2) + ceil(1.2) + floor(1.8) + round(1.5)`:      int64(7),
		`int("7") + float("1.5")`:                            8.5,
		`string(params.n) + "x"`:                             "3x",
		`upper(trim(" a ")) + lower("B")`:                    "Ab",
		`split("a,b", ",")`:                                  []any{"a", "b"},
		`join(params.words, "-")`:                            "b-a-b",
		`hasPrefix("abc", "ab") && hasSuffix("abc", "bc")`:   true,
		`concat(params.list, [9])`:                           []any{int64(3), int64(1), int64(2), int64(9)},
		`reverse(params.list)`:                               []any{int64(2), int64(1), int64(3)},
		`sort(params.list)`:                                  []any{int64(1), int64(2), int64(3)},
		`uniq(params.words)`:                                 []any{"b", "a"},
		`fromJSON(params.json).a[0]`:                         int64(1),
		`let x = params.n; x * x`:                            int64(9),
		`params.list == [3, 1, 2]`:                           true,
		`params.map == {"j": 2, "k": 1}`:                     true,
		`groupBy(params.words, #)["b"]`:                      []any{"b", "b"},
	} {
		e, err := parseExpression(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		got, err := e.evaluate(env)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", source, got, err)
		}
		if theirs, err := expr.Eval(source, vmEnv(env)); err != nil {
			t.Errorf("%s: expr: %v", source, err)
		} else if !reflect.DeepEqual(vmValue(theirs), want) {
			t.Errorf("%s: expr has %#v", source, theirs)
		}
	}
}

// vmEnv converts numbers to the types that expr uses.
func vmEnv(v any) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = vmEnv(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = vmEnv(v[k])
		}
		return out
	default:
		return v
	}
}

func vmValue(v any) any {
	plain, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(plain, &out) != nil {
		return v
	}
	return tidy(out)
}

func TestExpressionErrors(t *testing.T) {
	env := data(t)
	for source, want := range map[string]string{
		`params.x > 3`:                    `params has no "x"; there is f, json, list, map, n, nil, rows, s, words, yes`,
		`needs.off.result.count > 3`:      `needs.off.result is nothing, so it has no count`,
		`params.s > 3`:                    `text and a number cannot be compared`,
		`params.n && true`:                `the left side of && is a number, not true or false`,
		`params.n + "a"`:                  `+ wants numbers, got a number and text`,
		`params.list[7]`:                  `params.list has no item 7: there are 3`,
		`1 / 0`:                           `the number is too large, or a division by 0`,
		`9223372036854775807 + 1`:         `the number is too large`,
		`filter(params.list, #)`:          `filter: what it asks of an item gives a number, not true or false`,
		`map(params.s, #)`:                `map: wants a list, got text`,
		`params.s matches "("`:            "\"(\" is no pattern: error parsing regexp: missing closing ): `(`",
		`1..10000000`:                     `1..10000000 has too many numbers`,
		`params.rows | map(.missing)`:     `# has no "missing"; there is n, name, ok`,
		`upper(params.n)`:                 `upper: wants text, got a number`,
		`params.n ? 1 : 2`:                `the condition before ? is a number, not true or false`,
		`fromJSON("{")`:                   `fromJSON: the text is not JSON: unexpected end of JSON input`,
		`int("seven")`:                    `int: "seven" is no whole number`,
		`params.s["a"]`:                   `params.s is text, so it has no a`,
		`sum(params.words)`:               `sum: + wants numbers, got a number and text`,
		`sortBy(params.rows, [.n])`:       `sortBy: a list and a list cannot be compared`,
		`-9223372036854775807 - 2`:        `the number is too large`,
		`9223372036854775807 * 2`:         `the number is too large`,
		`params.f % 2`:                    `% wants whole numbers`,
		`toJSON(params.list) in params.s`: `in wants a list or a mapping, got text`,
	} {
		e, err := parseExpression(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if v, err := e.evaluate(env); err == nil || err.Error() != want {
			t.Errorf("%s: %v\n got %v\nwant %s", source, v, err, want)
		}
	}
	for source, want := range map[string]string{
		``:                              `the expression is wrong: it is empty`,
		`params.s.upper()`:              `a value has no functions`,
		`now()`:                         `there is no function "now"`,
		`repeat("a", 1000000)`:          `there is no function "repeat"`,
		`reduce(params.list, #acc + #)`: `there is no function "reduce"`,
		`len(1, 2)`:                     `len wants one argument, got 2`,
		`1; 2`:                          `this is not part of the language`,
		`b"abc"`:                        `this is not part of the language`,
		`len()`:                         `len wants one argument, got 0`,
	} {
		if _, err := parseExpression(source); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", source, err, want)
		}
	}
}

// TestExpressionBudget checks that any expression over any data ends, with an error that says
// why; without its budget each of these would run for hours.
func TestExpressionBudget(t *testing.T) {
	numbers := make([]any, 10_000)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	env := map[string]any{"params": map[string]any{"l": numbers, "s": strings.Repeat("ab", 1<<18), "deep": nest(5000)}}
	double := "params.s"
	for range 40 {
		double = fmt.Sprintf("map([%s], # + #)[0]", double)
	}
	pairs := "params.l"
	for range 40 {
		pairs = fmt.Sprintf("map([%s], [#, #])[0]", pairs)
	}
	for name, source := range map[string]string{
		"loops":      `all(params.l, all(params.l, all(params.l, # >= 0)))`,
		"loops, map": `map(params.l, map(params.l, map(params.l, #)))`,
		"double":     double,
		"pairs":      pairs + ` == ` + pairs,
		"pairs JSON": `toJSON(` + pairs + `)`,
		"pattern":    `all(params.l, not (params.s matches "(a|b|ab)*c"))`,
		"search":     `all(params.l, not (params.s contains "abc"))`,
		"concat":     `map(params.l, concat(params.l, params.l))`,
		"split":      `map(params.l, split(params.s, ""))`,
		"let":        `let a = params.s + params.s; let b = a + a; let c = b + b; c`,
		"range":      `map(1..1000000, map(1..1000000, 1))`,
		"in":         `all(params.l, not ("x" in map(params.l, params.s)))`,
	} {
		e, err := parseExpression(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := e.evaluate(env); err == nil || !strings.Contains(err.Error(), "too l") && !strings.Contains(err.Error(), "over the limit") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nest(n int) any {
	var v any = int64(1)
	for range n {
		v = []any{v}
	}
	return v
}
