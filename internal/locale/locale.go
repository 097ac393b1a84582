package locale

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.json
var files embed.FS

// Default is the language that has every word.
const Default = "en"

// Words are the words of one language.
type Words struct {
	// Code is the language as HTML names it; Name is what it calls itself.
	Code, Name string
	own        map[string]string
}

// known are the languages by code; codes has them in order, the default first.
var known, codes = load()

func load() (map[string]*Words, []string) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := map[string]*Words{}
	var order []string
	for _, name := range names {
		data, err := files.ReadFile(name)
		w := &Words{Code: strings.TrimSuffix(path.Base(name), ".json")}
		if err == nil {
			err = json.Unmarshal(data, &w.own)
		}
		if err != nil {
			panic(fmt.Sprintf("read the words %s: %v", name, err)) // a fault of the program: a test reads them too
		}
		w.Name = w.own["language"]
		all[w.Code] = w
		order = append(order, w.Code)
	}
	slices.SortFunc(order, func(a, b string) int {
		if (a == Default) != (b == Default) {
			if a == Default {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return all, order
}

// All are the languages that there are, the default first.
func All() []*Words {
	out := make([]*Words, len(codes))
	for i, code := range codes {
		out[i] = known[code]
	}
	return out
}

// Known says whether there is such a language.
func Known(code string) bool { return known[code] != nil }

// Pick chooses a language: the one that a person chose, else the best that the
// browser asks for, else the default.
func Pick(chosen, accept string) *Words {
	if w := known[chosen]; w != nil {
		return w
	}
	best, weight := known[Default], 0.0
	for part := range strings.SplitSeq(accept, ",") {
		tag, more, _ := strings.Cut(strings.TrimSpace(part), ";")
		q := 1.0
		if text, ok := strings.CutPrefix(strings.TrimSpace(more), "q="); ok {
			var err error
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		code, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if w := known[code]; w != nil && q > weight {
			best, weight = w, q
		}
	}
	return best
}

// Say is the text of a key, with its values put in. A key that no language has is
// shown as it is: a test finds it before a person does.
func (w *Words) Say(key string, values ...any) string {
	text, ok := w.own[key]
	if !ok {
		if text, ok = known[Default].own[key]; !ok {
			return key
		}
	}
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// Has says whether there is such a key.
func (w *Words) Has(key string) bool {
	_, ok := w.own[key]
	return ok
}

// Count says how many: the key with .one is for one, where a language has it. A text with %s
// has its digits in groups.
func (w *Words) Count(key string, n int) string {
	if text, ok := w.own[key+".one"]; ok && n == 1 {
		return text
	}
	return strings.NewReplacer("%d", strconv.Itoa(n), "%s", Number(n)).Replace(w.Say(key))
}

// Number is a number with thin groups of three digits: 12 345.
func Number(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return sign + s
}

// Keys are all keys of the language, in order.
func (w *Words) Keys() []string {
	out := make([]string, 0, len(w.own))
	for key := range w.own {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

type contextKey struct{}

// With makes a page speak a language.
func With(ctx context.Context, w *Words) context.Context {
	return context.WithValue(ctx, contextKey{}, w)
}

// From is the language of a page; without one it is the default.
func From(ctx context.Context) *Words {
	if w, ok := ctx.Value(contextKey{}).(*Words); ok {
		return w
	}
	return known[Default]
}
