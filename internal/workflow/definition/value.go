package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// errMissing marks a lookup of a key that does not exist. Only default and ?? catch it.
var errMissing = errors.New("missing")

type missing struct{ what string }

func (m *missing) Error() string        { return m.what }
func (m *missing) Is(target error) bool { return target == errMissing }

// budget bounds what one evaluation may do: a unit is a node of the expression or 16
// bytes of a value that is read or made. It bounds both time and memory, whatever the
// expression and its data are.
type budget struct{ left int }

const (
	evaluationUnits = 5_000_000
	maxString       = 1 << 20
)

func newBudget() *budget { return &budget{evaluationUnits} }

func (b *budget) spend(units int) error {
	if b.left -= units; b.left < 0 || units < 0 {
		return errors.New("it takes too long: the data is too large for it")
	}
	return nil
}

// text spends the cost of a text of n bytes and refuses one that is too long.
func (b *budget) text(n int) error {
	if n > maxString {
		return fmt.Errorf("a text of %d bytes is over the limit of 1 MiB", n)
	}
	return b.spend(1 + n/16)
}

// weigh spends the cost of walking through a value, and returns its approximate size in
// bytes of JSON.
func (b *budget) weigh(v any) (int, error) {
	size := 8
	switch v := plain(v).(type) {
	case string:
		size += len(v)
		return size, b.spend(1 + len(v)/16)
	case []any:
		for _, one := range v {
			n, err := b.weigh(one)
			if err != nil {
				return 0, err
			}
			size += n
		}
	case map[string]any:
		for key, one := range v {
			n, err := b.weigh(one)
			if err != nil {
				return 0, err
			}
			size += n + len(key)
		}
	}
	return size, b.spend(1)
}

// tidy returns the value in the form of JSON: integers are int64, other numbers float64,
// every mapping a map[string]any. The result shares nothing with v.
func tidy(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v
	case moment:
		return v.String()
	case float64:
		return whole(v)
	case int:
		return int64(v)
	case json.Number:
		n, err := numeral(v.String())
		if err != nil {
			return v.String()
		}
		return n
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = tidy(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[key] = tidy(one)
		}
		return out
	default:
		plain, err := json.Marshal(v)
		var out any
		if err != nil || json.Unmarshal(plain, &out) != nil {
			return nil
		}
		return tidy(out)
	}
}

// show returns a value for use inside a text.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case moment:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return string(encode(v))
	}
}

// encode returns compact JSON without HTML escapes.
func encode(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // only values of JSON get here
		panic(fmt.Sprintf("definition: %v", err))
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// word names the kind of a value.
func word(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case string:
		return "text"
	case moment:
		return "a time"
	case []any:
		return "a list"
	default:
		return "a mapping"
	}
}

// lookup returns the value of a key or an index. path names the value that is looked
// into.
func lookup(v, key any, path string) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, &missing{fmt.Sprintf("%s is nothing, so it has no %v", path, key)}
	case map[string]any:
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("%s is a mapping: its keys are text, not %s", path, word(key))
		}
		if one, ok := v[name]; ok {
			return one, nil
		}
		if len(v) == 0 {
			return nil, &missing{fmt.Sprintf("%s has no %q: it is empty", path, name)}
		}
		return nil, &missing{fmt.Sprintf("%s has no %q; there is %s", path, name, list(sortedKeys(v)))}
	case []any:
		i, ok := key.(int64)
		if !ok {
			return nil, fmt.Errorf("%s is a list: it is read by number, not by %s", path, show(key))
		}
		if i < 0 {
			i += int64(len(v))
		}
		if i < 0 || i >= int64(len(v)) {
			return nil, &missing{fmt.Sprintf("%s has no item %v: there are %d", path, key, len(v))}
		}
		return v[i], nil
	default:
		return nil, fmt.Errorf("%s is %s, so it has no %v", path, word(v), key)
	}
}

// same compares by value; 1 and 1.0 are equal.
func same(b *budget, x, y any) (bool, error) {
	if err := b.spend(1); err != nil {
		return false, err
	}
	if order, ok := compareMoments(x, y); ok {
		return order == 0, nil
	}
	switch x := x.(type) {
	case string:
		s, ok := y.(string)
		return ok && x == s, b.spend(len(x) / 16)
	case []any:
		list, ok := y.([]any)
		if !ok || len(list) != len(x) {
			return false, nil
		}
		for i := range x {
			if eq, err := same(b, x[i], list[i]); !eq || err != nil {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		other, ok := y.(map[string]any)
		if !ok || len(other) != len(x) {
			return false, nil
		}
		for key := range x {
			one, ok := other[key]
			if !ok {
				return false, nil
			}
			if eq, err := same(b, x[key], one); !eq || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if order, ok := compareNumbers(x, y); ok {
		return order == 0, nil
	}
	switch y.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return x == y, nil
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func compareNumbers(x, y any) (int, bool) {
	if i, ok := x.(int64); ok {
		if j, ok := y.(int64); ok {
			return direction(i, j), true
		}
	}
	f, ok1 := toFloat(x)
	g, ok2 := toFloat(y)
	if !ok1 || !ok2 || math.IsNaN(f) || math.IsNaN(g) {
		return 0, false
	}
	return direction(f, g), true
}

func direction[T int64 | float64 | string](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

// compare orders two numbers, two times or two texts.
func compare(x, y any) (int, error) {
	if n, ok := compareNumbers(x, y); ok {
		return n, nil
	}
	if n, ok := compareMoments(x, y); ok {
		return n, nil
	}
	s, ok1 := plain(x).(string)
	t, ok2 := plain(y).(string)
	if ok1 && ok2 {
		return direction(s, t), nil
	}
	return 0, fmt.Errorf("%s and %s cannot be compared", word(x), word(y))
}

// ref is what a template or an expression reads: params.width, needs.scan.
type ref struct {
	path   []string
	offset int // in bytes, in the text
}

func (r ref) String() string { return strings.Join(r.path, ".") }

// needed returns the steps whose outcome refs read; all is set if some are not known
// before it runs.
func needed(refs []ref) (keys []string, all bool) {
	for _, r := range refs {
		switch {
		case r.path[0] != "needs":
		case len(r.path) == 1:
			all = true
		case !slices.Contains(keys, r.path[1]):
			keys = append(keys, r.path[1])
		}
	}
	return keys, all
}
