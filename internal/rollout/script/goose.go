package script

import (
	"fmt"
	"regexp"
	"strings"
)

// gooseLine is an annotation of goose: -- +goose Up
var gooseLine = regexp.MustCompile(`(?i)^\s*--\s*\+goose\s+(.*?)\s*$`)

// goose is a file with annotations of goose.
type goose struct {
	found         bool
	up            string // the part that runs, on the lines it has in the file
	noTransaction bool
}

// readGoose takes the Up part out of a text. What stands above it becomes empty
// lines, so that places in the part are places in the file.
func readGoose(text string) (goose, *Fault) {
	var g goose
	var up strings.Builder
	above, part := "", ""
	number := 0
	for line := range strings.Lines(text) {
		number++
		fault := func(what, next string) (goose, *Fault) {
			return g, &Fault{Line: number, Column: 1, What: what, Next: next}
		}
		m := gooseLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		command := ""
		if m != nil {
			g.found = true
			command = strings.ToLower(strings.Join(strings.Fields(m[1]), " "))
		}
		switch {
		case command == "" && part == "up", strings.HasPrefix(command, "statement") && part == "up":
			up.WriteString(line)
			continue
		case command == "" && part == "":
			if bare := strings.TrimSpace(line); bare != "" && !strings.HasPrefix(bare, "--") && above == "" {
				above = fmt.Sprintf("%q stands above -- +goose Up", excerpt(bare))
			}
		case command == "up":
			if part != "" {
				return fault("-- +goose Up stands twice, or below Down", "keep one Up part, above Down")
			}
			if above != "" {
				return fault(above, "move it below: goose would not run it")
			}
			part = "up"
		case command == "down":
			if part == "" {
				return fault("-- +goose Down stands above Up", "write the Up part first")
			}
			part = "down"
		case command == "no transaction":
			g.noTransaction = true
		case strings.HasPrefix(command, "envsub"):
			return fault("-- +goose ENVSUB puts variables of an environment into the script", "write the values out: what was approved must be what runs")
		case command != "" && !strings.HasPrefix(command, "statement"):
			return fault(fmt.Sprintf("-- +goose %s is not known", m[1]), "goose has Up, Down, StatementBegin, StatementEnd and NO TRANSACTION")
		}
		if part != "down" {
			up.WriteString("\n")
		}
	}
	if g.found && part == "" {
		return g, &Fault{What: "the file has annotations of goose but no -- +goose Up", Next: "write -- +goose Up above the first statement"}
	}
	g.up = up.String()
	return g, nil
}
