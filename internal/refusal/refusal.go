package refusal

import (
	"encoding/json"
	"fmt"
	"strings"
)

// NoSuch is the pattern for a missing object: its noun and its name. NoEnd is the pattern
// for an object whose id is given by its end.
const (
	NoSuch = "there is no %s %s"
	NoEnd  = "there is no %s whose id ends in %s among the newest and those that wait, run or failed: give the whole id"
)

// Refusal is one refusal. As an error it is the sentence after its field.
type Refusal struct {
	// Field is the part of the input that was refused, as a path in JSON; it is empty if
	// no field, or the whole input, is refused.
	Field string
	// Pattern is the sentence with verbs for Args. The verbs are those of fmt, and %L for
	// text in the quotes of SQL.
	Pattern string
	Args    []any
	// Command is the command to run next, if the advice is a command. The hint of the
	// database ends with it.
	Command string
	// Data is further information for programs: an object, or nothing.
	Data json.RawMessage
}

// New refuses a field; an empty field is none.
func New(field, pattern string, args ...any) *Refusal {
	return &Refusal{Field: field, Pattern: pattern, Args: args}
}

func (r *Refusal) Error() string { return At(r.Field, fmt.Sprintf(r.Pattern, r.Args...)) }

// At puts the field before a sentence.
func At(field, sentence string) string {
	if field == "" {
		return sentence
	}
	return field + ": " + sentence
}

// Detail returns the refusal in the form that the database sends.
func (r *Refusal) Detail() string {
	text, _ := json.Marshal(struct { // text always encodes
		Field   string   `json:"field,omitempty"`
		Pattern string   `json:"pattern"`
		Args    []string `json:"args"`
	}{r.Field, r.Pattern, Texts(r.Args)})
	return string(text)
}

// Texts returns arguments in the form for programs.
func Texts(args []any) []string {
	var out []string
	for _, a := range args {
		out = append(out, fmt.Sprint(a))
	}
	return out
}

// Read reads the detail of a refusal by the database. It returns an empty Refusal if the
// detail is none.
func Read(detail string) Refusal {
	var own struct {
		Field, Pattern, Command string
		Args                    []*argument
	}
	var rest map[string]json.RawMessage
	if json.Unmarshal([]byte(detail), &rest) != nil || json.Unmarshal([]byte(detail), &own) != nil {
		return Refusal{}
	}
	r := Refusal{Field: own.Field, Pattern: own.Pattern, Command: own.Command}
	for _, a := range own.Args {
		r.Args = append(r.Args, a)
	}
	for _, name := range []string{"field", "pattern", "args", "command"} {
		delete(rest, name)
	}
	if len(rest) > 0 {
		r.Data, _ = json.Marshal(rest) // it was valid JSON just now
	}
	return r
}

// argument formats itself for a pattern of the database, whose verbs are those of its
// function format. A nil is null.
type argument string

// Format implements [fmt.Formatter].
func (a *argument) Format(to fmt.State, verb rune) {
	text := ""
	switch {
	case a == nil && verb == 'L':
		text = "NULL"
	case a == nil:
	case verb == 'L':
		text = "'" + strings.ReplaceAll(string(*a), "'", "''") + "'"
	default:
		text = string(*a)
	}
	_, _ = to.Write([]byte(text)) // a buffer of fmt never fails
}
