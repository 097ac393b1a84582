package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/problem"
)

// Streams are a command's standard files.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Quiet is an error that has been told already; only its kind counts.
type Quiet problem.Kind

// Status is the exit code of something that ran elsewhere and has told its own.
type Status int

// Report tells an error in two lines and returns the exit code.
func (e *Env) Report(err error) int {
	var told Quiet
	if errors.As(err, &told) {
		return problem.Kind(told).Exit()
	}
	var ended Status
	if errors.As(err, &ended) {
		return int(ended)
	}
	p := problem.Explain(err)
	kind, next := p.Kind, p.Advice()
	if !e.Began {
		// Nothing has run: the command line itself was refused.
		kind = problem.Invalid
		if next == "" {
			next = "see: " + e.HelpFor + " --help"
		}
	}
	if e.loginHint != "" && kind == problem.Unauthenticated {
		next = e.loginHint
	}
	next = e.Hint(next)
	if o := e.Output(); e.WantsData() {
		o.Out, o.Format = e.Err, e.Format
		if o.Value(problemObject{kind.Code(), kind.Exit(), Clean(p.What), Clean(next), p.Field, e.Asked, p.Data}) == nil {
			return kind.Exit()
		}
	}
	what, rest, _ := strings.Cut(strings.TrimSpace(p.What), "\n")
	fmt.Fprintf(e.Err, "weir: %s\n", Clean(what))
	if rest != "" {
		fmt.Fprintln(e.Err, CleanLines(rest))
	}
	if e.Asked != "" && !strings.Contains(p.What, e.Asked) {
		fmt.Fprintf(e.Err, "asked: %s\n", Clean(e.Asked))
	}
	if next != "" {
		fmt.Fprintf(e.Err, "next: %s\n", Clean(next))
	}
	return kind.Exit()
}

// MissingReason names the flag in a refusal because no reason was given, because the
// field alone does not say where on the command line the reason goes. A reason comes
// from no file, so the flag is the only place.
func MissingReason(cmd *cobra.Command, err error) error {
	const name = "reason"
	flag := cmd.Flags().Lookup(name)
	p := problem.Explain(err)
	if flag == nil || flag.Value.String() != "" || p.Kind != problem.Invalid || p.Field != name {
		return err
	}
	named := *p
	named.What = "--" + name + " is missing: " + p.Sentence()
	if named.Next == "" {
		named.Next = "add: --" + name + " TEXT"
	}
	return &named
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

// WantsData says that a program reads what we print. A command line that was
// refused may not have been read to its end, so that is looked for.
func (e *Env) WantsData() bool {
	for i, arg := range e.Line {
		value := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(arg, "--output="), "-o"), "=")
		if (arg == "-o" || arg == "--output") && i+1 < len(e.Line) {
			value = e.Line[i+1]
		}
		if !e.Began && value != arg && (value == "json" || value == "yaml") {
			e.Format = value
		}
	}
	return e.Format == "json" || e.Format == "yaml"
}

// Invalid refuses what was typed: what is wrong, and what to do next.
func Invalid(next, format string, args ...any) error {
	return &problem.Problem{Kind: problem.Invalid, What: fmt.Sprintf(format, args...), Next: next}
}

func (Quiet) Error() string { return "told already" }

func (s Status) Error() string { return fmt.Sprintf("it ended with %d", int(s)) }
