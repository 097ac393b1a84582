package reason

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Default is the language that has every code.
const Default = "en"

//go:embed *.json
var files embed.FS

// tables are the words of each language, by code.
var tables = load()

func load() map[string]map[string]string {
	all := map[string]map[string]string{}
	names, err := fs.Glob(files, "*.json")
	for _, name := range names {
		var words map[string]string
		data, failed := files.ReadFile(name)
		if failed == nil {
			failed = json.Unmarshal(data, &words)
		}
		if failed != nil {
			err = fmt.Errorf("%s: %w", name, failed)
		}
		all[strings.TrimSuffix(name, ".json")] = words
	}
	if err != nil {
		panic(err) // a fault of the program: a test reads them too
	}
	return all
}

var (
	// section is a part of a sentence; what stands in brackets may be left out.
	section = regexp.MustCompile(`\[([^]]*)\]|[^[]+`)
	// token is a place, with its form, or plain text.
	token = regexp.MustCompile(`\{(\w+)(?::(\w+))?\}|[^{]+`)
)

// Coded is a reason for programs: a code with its arguments.
type Coded struct {
	// Code is the kind of reason, such as pool_full.
	Code string `json:"code,omitempty" doc:"The kind of reason, for programs."`
	// Args are its arguments: names, counts, spans in seconds and times. One that is an
	// object with a code is a reason of its own.
	Args map[string]any `json:"args,omitempty" doc:"What the code is about: names, counts, seconds, times."`
}

// Of is a reason that a query found; nil for none.
func Of(code *string, args map[string]any) *Coded {
	if code == nil {
		return nil
	}
	return &Coded{*code, args}
}

// Without is a reason without one of its arguments.
func (r *Coded) Without(name string) *Coded {
	if r == nil {
		return nil
	}
	args := maps.Clone(r.Args)
	delete(args, name)
	return &Coded{r.Code, args}
}

// In is the sentence in a language, or the text if there is no reason or no table has its
// code: a newer database may give one.
func (r *Coded) In(language, text string) string {
	if r == nil {
		return text
	}
	return cmp.Or(Say(language, r.Code, r.Args), text)
}

// Nested is a reason as an argument of another one.
func (r Coded) Nested() map[string]any {
	out := map[string]any{"code": r.Code}
	maps.Copy(out, r.Args)
	return out
}

// Say is the sentence of a reason in a language. It is empty for a code that no table has:
// a newer database may give one.
func Say(language, code string, args map[string]any) string {
	return speaker(language).sentence(code, args)
}

// Named reports whether the sentence of a code begins with a name, such as that of a step,
// which is written as it is also at the begin of a line.
func Named(language, code string) bool {
	text, _ := speaker(language).words(code)
	m := token.FindStringSubmatch(strings.TrimPrefix(text, "["))
	return m != nil && m[1] != "" && m[2] == ""
}

// speaker is a language.
type speaker string

func (s speaker) words(code string) (string, bool) {
	text, ok := tables[string(s)][code]
	if !ok {
		text, ok = tables[Default][code]
	}
	return text, ok
}

func (s speaker) sentence(code string, args map[string]any) string {
	text, ok := "", false
	if args["n"] == 1.0 {
		text, ok = s.words(code + ".one")
	}
	if !ok {
		text, _ = s.words(code)
	}
	var said strings.Builder
	for _, m := range section.FindAllStringSubmatch(text, -1) {
		if optional := m[0][0] == '['; optional {
			said.WriteString(s.fill(m[1], code, args, true))
		} else {
			said.WriteString(s.fill(m[0], code, args, false))
		}
	}
	return said.String()
}

// fill puts the arguments into a section. One that is optional is empty if it lacks one.
func (s speaker) fill(text, code string, args map[string]any, optional bool) string {
	var said strings.Builder
	for _, m := range token.FindAllStringSubmatch(text, -1) {
		switch name := m[1]; {
		case name == "":
			said.WriteString(m[0])
		case name == "command":
			command, _ := s.words("command." + code)
			said.WriteString(command)
		case args[name] != nil:
			said.WriteString(s.argument(args[name], m[2]))
		case optional:
			return ""
		default:
			said.WriteString("?")
		}
	}
	return said.String()
}

// argument is a value in a form: span, time, minute, clock, word, one that counts (many.FORM
// has its words) or none.
func (s speaker) argument(value any, form string) string {
	if _, counts := s.words("many." + form); counts {
		return s.sentence("many."+form, map[string]any{"n": value})
	}
	switch v := value.(type) {
	case map[string]any:
		code, _ := v["code"].(string)
		return s.sentence(code, v)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = s.argument(x, form)
		}
		return strings.Join(parts, ", ")
	case float64:
		if form == "span" {
			return s.span(v)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if form == "word" {
			if word, ok := s.words("word." + v); ok {
				return word
			}
			return v
		}
		return moment(v, form)
	}
	return fmt.Sprint(value)
}

// layouts are the forms of times.
var layouts = map[string]string{"time": "2006-01-02 15:04:05 UTC", "minute": "2006-01-02 15:04 UTC", "clock": "15:04:05 UTC"}

func moment(text, form string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if layout := layouts[form]; layout != "" && err == nil {
		return at.UTC().Format(layout)
	}
	return text
}

// span is a number of seconds as people say it: 250ms, 50s, 1m, 1h 30m, 2d 4h.
func (s speaker) span(seconds float64) string {
	part := func(n int64, unit string) string {
		word, _ := s.words("span." + unit)
		return strconv.FormatInt(n, 10) + word
	}
	if seconds < 1 {
		return part(int64(math.Round(seconds*1000)), "ms")
	}
	units := []struct {
		name    string
		seconds int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}
	n, i := int64(seconds), 0
	for n < units[i].seconds {
		i++
	}
	text := part(n/units[i].seconds, units[i].name)
	if i+1 < len(units) {
		if small := n % units[i].seconds / units[i+1].seconds; small > 0 {
			text += " " + part(small, units[i+1].name)
		}
	}
	return text
}
