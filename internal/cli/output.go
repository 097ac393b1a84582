package cli

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

var formats = []string{"table", "wide", "json", "yaml", "name"}

// output prints in the form that was asked for.
type output struct {
	Streams
	format   string
	terminal bool
	color    bool
	width    int
	// now is when the command began: ages are counted from it.
	now time.Time
	// hint makes the commands in a sentence ones that can be typed.
	hint func(string) string
	// names are those of tasks in lines about events; nil: their ids must do.
	names func(view.Event) string
	// lines says that more than one value follows: each on a line of its own.
	lines bool
}

func (e *env) checkFormat() error {
	if !slices.Contains(formats, e.format) {
		return invalid("choose one of "+strings.Join(formats, ", "), "-o %s: there is no such form of output", e.format)
	}
	return nil
}

// data says that the output is for a program: the whole value, as it is.
func (o *output) data() bool { return o.format == "json" || o.format == "yaml" }

// value prints v for a program.
func (o *output) value(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if o.format == "yaml" {
		if o.lines {
			fmt.Fprintln(o.Out, "---")
		}
		return writeYAML(o.Out, text)
	}
	if o.lines {
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

// say tells a person something that no program needs.
func (o *output) say(format string, args ...any) {
	fmt.Fprintln(o.Err, o.hint(fmt.Sprintf(format, args...)))
}

// did prints what a command has done: the id alone with -o name, the value with
// -o json, else a sentence.
func (o *output) did(name string, v any, format string, args ...any) error {
	return o.show(name, v, func() error {
		_, err := fmt.Fprintln(o.Out, o.hint(fmt.Sprintf(format, args...)))
		return err
	})
}

// show prints a thing: the whole value for a program, what it is called with -o name, else
// what the function prints for a person.
func (o *output) show(name string, v any, print func() error) error {
	switch {
	case o.data():
		return o.value(v)
	case o.format == "name":
		_, err := fmt.Fprintln(o.Out, name)
		return err
	}
	return print()
}

// colours by what a word means.
const (
	plain  = ""
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	dim    = "2"
	bold   = "1"
)

func (o *output) paint(color, s string) string {
	if !o.color || color == plain || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// state is the state of a task in its color.
func (o *output) state(s weir.State) string { return o.paint(stateColor(string(s)), string(s)) }

// stateColor is the colour of a state, mode or level.
func stateColor(s string) string {
	switch s {
	case "done", "live", "active", "ok":
		return green
	case "failed", "dead", "error", "broken":
		return red
	case "running", "available":
		return blue
	case "pending", "queued", "canceling", "draining", "waking", "paused", "warn", "held":
		return yellow
	case "canceled", "skipped", "stopped", "inactive", "asleep", "debug":
		return dim
	}
	return plain
}
