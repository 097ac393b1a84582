package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"

	"go.yaml.in/yaml/v3"
)

// Formats are the forms of output.
var Formats = []string{"table", "wide", "json", "yaml", "name"}

// Output prints in the form that was asked for.
type Output struct {
	Streams
	Format   string
	Terminal bool
	Color    bool
	Width    int
	// Now is when the command began: ages are counted from it.
	Now time.Time
	// Hint makes the commands in a sentence ones that can be typed.
	Hint func(string) string
	// Names are those of tasks in lines about events; nil: their ids must do.
	Names func(view.Event) string
	// Lines says that more than one value follows: each on a line of its own.
	Lines bool
}

func (e *Env) checkFormat() error {
	if !slices.Contains(Formats, e.Format) {
		return Invalid("choose one of "+strings.Join(Formats, ", "), "-o %s: there is no such form of output", e.Format)
	}
	return nil
}

// Data says that the output is for a program: the whole value, as it is.
func (o *Output) Data() bool { return o.Format == "json" || o.Format == "yaml" }

// Value prints v for a program.
func (o *Output) Value(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if o.Format == "yaml" {
		if o.Lines {
			fmt.Fprintln(o.Out, "---")
		}
		return writeYAML(o.Out, text)
	}
	if o.Lines {
		_, err = fmt.Fprintln(o.Out, string(text))
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.Out, pretty.String())
	return err
}

// writeYAML writes JSON as YAML with the fields in the same order.
func writeYAML(w io.Writer, text []byte) error {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil { // JSON is YAML
		return err
	}
	blockStyle(&node)
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return err
	}
	return encoder.Close()
}

// blockStyle forgets the braces and quotes of JSON, where YAML needs none.
func blockStyle(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, child := range n.Content {
		blockStyle(child)
	}
}

// Say tells a person something that no program needs.
func (o *Output) Say(format string, args ...any) {
	fmt.Fprintln(o.Err, o.Hint(fmt.Sprintf(format, args...)))
}

// Did prints what a command has done: the id alone with -o name, the value with
// -o json, else a sentence.
func (o *Output) Did(name string, v any, format string, args ...any) error {
	return o.Show(name, v, func() error {
		_, err := fmt.Fprintln(o.Out, o.Hint(fmt.Sprintf(format, args...)))
		return err
	})
}

// Show prints a thing: the whole value for a program, what it is called with -o name, else
// what the function prints for a person.
func (o *Output) Show(name string, v any, print func() error) error {
	switch {
	case o.Data():
		return o.Value(v)
	case o.Format == "name":
		_, err := fmt.Fprintln(o.Out, name)
		return err
	}
	return print()
}

// colours by what a word means.
const (
	Plain  = ""
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Blue   = "34"
	Dim    = "2"
	Bold   = "1"
)

// Paint gives a text a color, where there are colors.
func (o *Output) Paint(color, s string) string {
	if !o.Color || color == Plain || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// State is the state of a task in its color.
func (o *Output) State(s weir.State) string { return o.Paint(StateColor(string(s)), string(s)) }

// StateColor is the colour of a state, mode or level.
func StateColor(s string) string {
	switch s {
	case "done", "live", "active", "ok":
		return Green
	case "failed", "dead", "error", "broken":
		return Red
	case "running", "available":
		return Blue
	case "pending", "queued", "canceling", "draining", "waking", "paused", "warn", "held":
		return Yellow
	case "canceled", "skipped", "stopped", "inactive", "asleep", "debug":
		return Dim
	}
	return Plain
}
