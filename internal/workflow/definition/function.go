package definition

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// function is a function that a template or an expression may call.
type function struct {
	least, most int
	usage       string
	call        func(b *budget, args []any) (any, error)
}

// timely are the functions that know times. All others get a time as text.
var timely = []string{
	"date", "inZone", "addMinutes", "addHours", "addDays", "addMonths", "startOfDay", "startOfWeek", "startOfMonth", "startOfYear",
	"default", "index", "first", "last", "get", "min", "max", "sort",
}

// run calls the function by its name.
func (f function) run(name string, b *budget, args []any) (any, error) {
	if !contains(timely, name) {
		args = plainAll(args)
	}
	return f.call(b, args)
}

// piped turns a function of templates, which takes the value last, into one of
// expressions, which take it first.
func piped(f func(*budget, []any) (any, error)) func(*budget, []any) (any, error) {
	return func(b *budget, args []any) (any, error) {
		return f(b, append(append([]any{}, args[1:]...), args[0]))
	}
}

func (f function) wants() string {
	switch {
	case f.most > 9:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least == f.most && f.least == 1:
		return "one argument"
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.least)
	default:
		return fmt.Sprintf("%d to %d arguments", f.least, f.most)
	}
}

// functions are few on purpose: a template selects and joins values; work belongs in a
// step.
var functions map[string]function

func init() {
	functions = map[string]function{
		"default": {2, 2, `{{ .params.x | default "a" }}`, fallback},
		"json":    {1, 1, `{{ .params.list | json }}`, asJSON},
		"string":  {1, 1, `{{ .params.n | string }}`, asText},
		"int":     {1, 1, `{{ .params.text | int }}`, asInt},
		"upper":   {1, 1, `{{ .params.x | upper }}`, onText(strings.ToUpper)},
		"lower":   {1, 1, `{{ .params.x | lower }}`, onText(strings.ToLower)},
		"trim":    {1, 1, `{{ .params.x | trim }}`, onText(strings.TrimSpace)},
		"base":    {1, 1, `{{ .params.file | base }}`, onText(path.Base)},
		"dir":     {1, 1, `{{ .params.file | dir }}`, onText(path.Dir)},
		"ext":     {1, 1, `{{ .params.file | ext }}`, onText(path.Ext)},
		"stem": {1, 1, `{{ .params.file | stem }}`, onText(func(s string) string {
			return strings.TrimSuffix(path.Base(s), path.Ext(s))
		})},
		"replace": {3, 3, `{{ .params.x | replace "old" "new" }}`, replace},
		"join":    {2, 2, `{{ .params.list | join ", " }}`, joinTexts},
		"split":   {2, 2, `{{ .params.x | split "," }}`, splitText},
		"len":     {1, 1, `{{ .params.list | len }}`, length},
		"first":   {1, 1, `{{ .params.list | first }}`, func(_ *budget, args []any) (any, error) { return lookup(args[0], int64(0), "the list") }},
		"last":    {1, 1, `{{ .params.list | last }}`, func(_ *budget, args []any) (any, error) { return lookup(args[0], int64(-1), "the list") }},
		"index":   {2, 10, `{{ index .params.list 0 }}, {{ index .needs "a-b" "result" }}`, indexed},
		"add":     {2, 2, `{{ .index | add 1 }}`, calculate("+")},
		"sub":     {2, 2, `{{ sub .params.n 1 }}`, calculate("-")},
		"mul":     {2, 2, `{{ mul .params.n 2 }}`, calculate("*")},
		"div":     {2, 2, `{{ div .params.n 2 }}`, calculate("/")},
		"mod":     {2, 2, `{{ mod .params.n 2 }}`, calculate("%")},
		"flatten": {1, 1, `{{ .params.lists | flatten }}`, flatten},
	}
	for _, f := range momentFunctions {
		functions[f.name] = function{f.least, f.most, "{{ .job.scheduled_at | " + f.template + " }}", f.call}
	}
}

func fallback(_ *budget, args []any) (any, error) {
	if args[1] == nil || args[1] == "" {
		return args[0], nil
	}
	return args[1], nil
}

func asJSON(b *budget, args []any) (any, error) {
	n, err := b.weigh(args[0])
	if err != nil {
		return nil, err
	}
	if err := b.text(n); err != nil {
		return nil, err
	}
	return string(encode(args[0])), nil
}

func asText(b *budget, args []any) (any, error) {
	if _, err := b.weigh(args[0]); err != nil {
		return nil, err
	}
	return show(args[0]), nil
}

func asInt(_ *budget, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return v, nil
	case float64:
		if v < -(1<<62) || v > 1<<62 {
			return nil, errors.New("the number is too large")
		}
		return int64(v), nil
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", clip(v))
		}
		return n, nil
	default:
		return nil, fmt.Errorf("%s is no number", word(v))
	}
}

// clip shortens a value for an error.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func onText(f func(string) string) func(*budget, []any) (any, error) {
	return func(b *budget, args []any) (any, error) {
		s, ok := args[0].(string)
		if !ok {
			return nil, fmt.Errorf("wants text, got %s", word(args[0]))
		}
		return f(s), b.text(len(s))
	}
}

func texts(args []any) ([]string, error) {
	out := make([]string, len(args))
	for i, arg := range args {
		s, ok := arg.(string)
		if !ok {
			return nil, fmt.Errorf("wants text, got %s", word(arg))
		}
		out[i] = s
	}
	return out, nil
}

func replace(b *budget, args []any) (any, error) {
	s, err := texts(args)
	if err != nil {
		return nil, err
	}
	was, becomes, in := s[0], s[1], s[2]
	if was == "" {
		return nil, errors.New("wants something to replace")
	}
	if err := b.text(len(in) + strings.Count(in, was)*max(0, len(becomes)-len(was))); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(in, was, becomes), nil
}

func joinTexts(b *budget, args []any) (any, error) {
	between, ok := args[0].(string)
	items, isList := args[1].([]any)
	if !ok || !isList {
		return nil, fmt.Errorf("wants a text and a list, got %s and %s", word(args[0]), word(args[1]))
	}
	var out strings.Builder
	for i, one := range items {
		if i > 0 {
			out.WriteString(between)
		}
		if _, err := b.weigh(one); err != nil {
			return nil, err
		}
		out.WriteString(show(one))
		if out.Len() > maxString {
			return nil, b.text(out.Len())
		}
	}
	return out.String(), b.text(out.Len())
}

func splitText(b *budget, args []any) (any, error) {
	s, err := texts(args)
	if err != nil {
		return nil, err
	}
	if err := b.spend(len(s[1])); err != nil {
		return nil, err
	}
	parts := strings.Split(s[1], s[0])
	out := make([]any, len(parts))
	for i, part := range parts {
		out[i] = part
	}
	return out, nil
}

func length(_ *budget, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return int64(len([]rune(v))), nil
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	default:
		return nil, fmt.Errorf("%s has no length", word(v))
	}
}

func indexed(_ *budget, args []any) (v any, err error) {
	v = args[0]
	for i, key := range args[1:] {
		if v, err = lookup(v, key, fmt.Sprintf("what %d of index reads", i+1)); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func calculate(op string) func(*budget, []any) (any, error) {
	return func(_ *budget, args []any) (any, error) {
		v, err := arithmetic(op, args[0], args[1])
		if f, ok := v.(float64); ok && op == "/" {
			return whole(f), err
		}
		return v, err
	}
}
