package ui

import (
	"context"

	"github.com/a-h/templ"

	"github.com/weirhq/weir/internal/problem"
)

// Field is one input of a form.
type Field struct {
	Name, Label string
	// Type is that of the input: text (default), password, number, select,
	// area, checks, hidden, or secret: an area whose text never comes back to the page.
	Type string
	// Rows is how high an area is. Zero: 5.
	Rows  int
	Value string
	// Hint says what to write; Example stands in the empty field.
	Hint, Example string
	// Options are for select and checks; Values are the checked ones.
	Options []Option
	Values  []string
	// Optional fields say so; all others must be filled in.
	Optional bool
	// Auto is the autocomplete of the browser.
	Auto string
	// Focus puts the cursor here.
	Focus bool
	// Fault is why the value was refused.
	Fault string
}

// Option is a choice.
type Option struct{ Value, Label string }

// Options makes choices whose labels are their values.
func Options(values ...string) []Option {
	out := make([]Option, len(values))
	for i, v := range values {
		out[i] = Option{v, v}
	}
	return out
}

// Fault puts a problem where it belongs: into its field, when the form has it.
// What is left is for the head of the form, and nil if nothing is.
func Fault(fields []Field, p *problem.Problem) *problem.Problem {
	if p == nil || p.Field == "" {
		return p
	}
	for i := range fields {
		if fields[i].Name == p.Field {
			// The name of the field stands above it already.
			fields[i].Fault = p.Sentence()
			if p.Next != "" {
				fields[i].Fault += ": " + p.Next
			}
			fields[i].Focus = true
			return nil
		}
	}
	return p
}

// Question asks before something is done. It is a page of its own, and the
// module shows it in a dialog.
type Question struct {
	Title string
	// Text names the consequence: what will happen, and to what.
	Text string
	// More is shown below the text, if it is not nil.
	More   templ.Component
	Fields []Field
	// Button is what the button says: the deed, not "OK".
	Button string
	// Danger marks what cannot be undone.
	Danger bool
	// Wide questions have a text to edit and take the width of the page.
	Wide bool
	// Back is where the way out leads.
	Back string
	// Problem is why the last try did not work.
	Problem *problem.Problem
}

// out is what the way out says. "Cancel" could be the deed itself.
func (q Question) out(ctx context.Context) string {
	if q.Danger {
		return Say(ctx, "ui.keep")
	}
	return Say(ctx, "ui.back")
}
