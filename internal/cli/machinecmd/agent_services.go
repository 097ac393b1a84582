package machinecmd

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// services are what an agent serves: how many tasks at once, and how it runs
// those that do not say so themselves.
type services struct {
	slots map[string]int
	runs  map[string]node.Run
}

// readServices reads a file of services. What stands there is read as the steps
// of a workflow are, so that the same fields mean the same.
func readServices(path string, in io.Reader) (services, error) {
	const next = "write it so: renderer: {slots: 2, run: {argv: [render]}}; weir agent --help shows more"
	read := services{map[string]int{}, map[string]node.Run{}}
	text, err := command.ReadFile(path, in, command.DefinitionMost)
	if err != nil {
		return read, command.Invalid("", "--services-file: %s", err)
	}
	var file map[string]struct {
		Slots *int           `yaml:"slots"`
		Step  map[string]any `yaml:",inline"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return read, command.Invalid(next, "--services-file: %s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(file) == 0 {
		return read, command.Invalid(next, "--services-file: %s names no service", path)
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		service := file[name]
		read.slots[name] = 1
		if service.Slots != nil {
			if read.slots[name] = *service.Slots; *service.Slots < 1 {
				return read, command.Invalid(next, "--services-file: %s: %s.slots: %d is less than 1", path, name, *service.Slots)
			}
		}
		if service.Step["run"] == nil {
			if len(service.Step) > 0 {
				return read, command.Invalid(next, "--services-file: %s: %s: expected slots and run", path, name)
			}
			continue
		}
		run, err := readRun(service.Step)
		if err != nil {
			return read, command.Invalid(next, "--services-file: %s: %s: %s", path, name, err)
		}
		read.runs[name] = run
	}
	return read, nil
}

// readRun reads how a service is run, as the only step of a workflow.
func readRun(step map[string]any) (node.Run, error) {
	step["key"], step["service"] = "service", "service"
	text, err := json.Marshal(map[string]any{"name": "service", "steps": []any{step}})
	if err != nil {
		return node.Run{}, err
	}
	d, faults := definition.Parse("", text)
	if d != nil {
		faults = append(faults, d.Lint()...)
	}
	if bad := faults.Errors(); len(bad) > 0 {
		fault := bad[0]
		fault.File, fault.Line, fault.Path = "", 0, strings.TrimPrefix(fault.Path, "steps[0].")
		return node.Run{}, &fault
	}
	tasks, err := d.Plan(definition.Input{})
	if err != nil {
		return node.Run{}, err
	}
	run, err := node.ParseRun(tasks[0].Run)
	if err == nil && run.Driver == "func" {
		err = errors.New("run: says nothing of how it is run")
	}
	return run, err
}
