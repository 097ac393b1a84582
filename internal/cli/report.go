package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/problem"
)

// Streams are a command's standard files.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// quiet is an error that has been told already; only its kind counts.
type quiet problem.Kind

// status is the exit code of something that ran elsewhere and has told its own.
type status int

// report tells an error in two lines and returns the exit code.
func (e *env) report(err error) int {
	var told quiet
	if errors.As(err, &told) {
		return problem.Kind(told).Exit()
	}
	var ended status
	if errors.As(err, &ended) {
		return int(ended)
	}
	p := problem.Explain(err)
	kind, next := p.Kind, p.Advice()
	if !e.began {
		// Nothing has run: the command line itself was refused.
		kind = problem.Invalid
		if next == "" {
			next = "see: " + e.helpFor + " --help"
		}
	}
	if e.loginHint != "" && kind == problem.Unauthenticated {
		next = e.loginHint
	}
	next = e.hint(next)
	if o := e.output(); e.wantsData() {
		o.Out, o.format = e.Err, e.format
		if o.value(problemObject{kind.Code(), kind.Exit(), clean(p.What), clean(next), p.Field, e.asked, p.Data}) == nil {
			return kind.Exit()
		}
	}
	what, rest, _ := strings.Cut(strings.TrimSpace(p.What), "\n")
	fmt.Fprintf(e.Err, "weir: %s\n", clean(what))
	if rest != "" {
		fmt.Fprintln(e.Err, cleanLines(rest))
	}
	if e.asked != "" && !strings.Contains(p.What, e.asked) {
		fmt.Fprintf(e.Err, "asked: %s\n", clean(e.asked))
	}
	if next != "" {
		fmt.Fprintf(e.Err, "next: %s\n", clean(next))
	}
	return kind.Exit()
}

// problemObject is an error as programs read it, in the words of the API.
type problemObject struct {
	Code   string `json:"code"`
	Exit   int    `json:"exit"`
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"`
	Field  string `json:"field,omitempty"`
	// Asked is the server that said so.
	Asked string `json:"asked,omitempty"`
	// Data is more about it, such as a limit and what runs.
	Data json.RawMessage `json:"data,omitempty"`
}

// wantsData says that a program reads what we print. A command line that was
// refused may not have been read to its end, so that is looked for.
func (e *env) wantsData() bool {
	for i, arg := range e.line {
		value := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(arg, "--output="), "-o"), "=")
		if (arg == "-o" || arg == "--output") && i+1 < len(e.line) {
			value = e.line[i+1]
		}
		if !e.began && value != arg && (value == "json" || value == "yaml") {
			e.format = value
		}
	}
	return e.format == "json" || e.format == "yaml"
}

func invalid(next, format string, args ...any) error {
	return &problem.Problem{Kind: problem.Invalid, What: fmt.Sprintf(format, args...), Next: next}
}
