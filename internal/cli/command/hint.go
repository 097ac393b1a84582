package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// commandIn finds a command of ours in a sentence: weir task, not bin/weir task.
var commandIn = regexp.MustCompile(`(^|[^\w./-])weir ([a-z]+)`)

// plainWord needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\w./:@%+=,-]+$`)

// elsewhere are the commands that work nowhere in particular.
var elsewhere = map[string]bool{"login": true, "logout": true, "context": true, "completion": true}

// CalledAs is how to call this program again: by its name where the shell finds
// it by that, else as it was called.
func CalledAs(arg string) string {
	name := filepath.Base(arg)
	if found, err := exec.LookPath(name); err == nil && sameFile(found, arg) {
		return name
	}
	return arg
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b) // #nosec G703 -- it is only compared with what PATH finds
	return err == nil && os.SameFile(one, other)
}

// Hint lets the commands in a sentence be typed as they stand: with the program
// as it was called, and with the flags that say where to work.
func (e *Env) Hint(text string) string {
	if e.Program+e.where == "weir" {
		return text // it stands so already, and all help texts come by at every start
	}
	return commandIn.ReplaceAllStringFunc(text, func(found string) string {
		before, verb, _ := strings.Cut(found, "weir ")
		if !e.Verbs[verb] {
			return found
		}
		if elsewhere[verb] {
			return before + e.Program + " " + verb
		}
		return before + e.Program + e.where + " " + verb
	})
}

// HintHelp lets also the commands in help texts be typed as they stand.
func (e *Env) HintHelp(c *cobra.Command) {
	c.Long, c.Example = e.Hint(c.Long), e.Hint(c.Example)
	for _, child := range c.Commands() {
		e.HintHelp(child)
	}
}

// remember keeps a flag for the hints, if it says where to work.
func (e *Env) remember(flag, value string) {
	switch flag {
	case "data", "context", "server", "config":
		if !plainWord.MatchString(value) {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		e.where += " --" + flag + " " + value
	}
}

// Said are the flags of these names as they were given, for a command that goes on
// with them.
func (e *Env) Said(names ...string) string {
	var b strings.Builder
	for i, word := range e.Line {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "--") || !slices.Contains(names, name) {
			continue
		}
		if !joined && i+1 < len(e.Line) {
			value = e.Line[i+1]
		}
		if !plainWord.MatchString(value) {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		b.WriteString(" --" + name + " " + Clean(value))
	}
	return b.String()
}
