package definition

import (
	"fmt"
	"maps"
	"strings"
)

// The limits of a script and of the params that it gets as variables. Linux refuses a
// single argument or variable over 128 KiB, and all of them together over 2 MiB.
const (
	maxScript    = 64 << 10
	maxVariable  = 32 << 10
	maxVariables = 512 << 10
)

// defaultShell stops at the first command that fails and at a variable that is not set.
var defaultShell = []string{"sh", "-eu"}

// command returns the argv of a script. The script is one argument, so nothing in it is
// ever filled in: values come as variables.
func (s *Step) command() []string {
	shell := s.Shell
	if len(shell) == 0 {
		shell = defaultShell
	}
	argv := append([]string{}, shell...)
	if last := shell[len(shell)-1]; last != "-c" && last != "--eval" && last != "-Command" {
		argv = append(argv, "-c")
	}
	return append(argv, s.Script)
}

// driver returns how the step is run, "" for a step that says nothing of it.
func (s *Step) driver() string {
	switch {
	case s.Run != nil && s.Run.Driver != "":
		return s.Run.Driver
	case s.Script != "":
		return "exec"
	default:
		return ""
	}
}

// takesEnv reports whether the work of the step has an environment.
func (s *Step) takesEnv() bool { return s.Workflow == "" && s.driver() != "http" }

// Variable returns the name of the variable in which a script finds a param or a part of
// its item: PARAM_ or ITEM_, then the name in capitals, with _ for all else.
func Variable(prefix, name string) string {
	return prefix + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		default:
			return '_'
		}
	}, name)
}

// variables are what a script is given of its params and of its item. A value that is too
// long for a variable is left out, and sh -u says so; the file WEIR_PARAMS has it.
func (r *renderer) variables(params map[string]any) (map[string]string, error) {
	out, total := map[string]string{}, 0
	set := func(name string, v any) error {
		if _, ok := out[name]; ok {
			return fmt.Errorf("two values would be the variable %s: rename one of them", name)
		}
		if _, err := r.b.weigh(v); err != nil {
			return err
		}
		text := show(v)
		if len(text) > maxVariable || total+len(text) > maxVariables || strings.ContainsRune(text, 0) {
			return nil
		}
		out[name], total = text, total+len(text)
		return nil
	}
	for _, name := range sortedKeys(params) {
		if err := set(Variable("PARAM_", name), params[name]); err != nil {
			return nil, stepError(r.step, "params."+name, err)
		}
	}
	if r.step.Map == nil {
		return out, nil
	}
	item := r.env["item"]
	_ = set("ITEM", item)
	_ = set("INDEX", r.env["index"])
	parts, _ := item.(map[string]any)
	for _, name := range sortedKeys(parts) {
		if err := set(Variable("ITEM_", name), parts[name]); err != nil {
			return nil, stepError(r.step, "map", err)
		}
	}
	return out, nil
}

// work returns the step's run with everything filled in, or nil if an agent is told
// nothing about it.
func (d *Definition) work(r *renderer, params map[string]any) (*Run, error) {
	s := r.step
	env := map[string]string{}
	if s.takesEnv() {
		of, err := r.pairs("env", d.Env)
		if err != nil {
			return nil, err
		}
		maps.Copy(env, of)
	}
	if s.Script != "" {
		of, err := r.variables(params)
		if err != nil {
			return nil, err
		}
		maps.Copy(env, of)
	}
	own, err := r.pairs("env", s.Env)
	if err != nil {
		return nil, err
	}
	maps.Copy(env, own)
	if s.Run == nil && s.Script == "" && len(env) == 0 {
		return nil, nil
	}
	run := &Run{Driver: "func"}
	if s.Run != nil {
		if run, err = r.run(*s.Run); err != nil {
			return nil, err
		}
	}
	if s.Script != "" {
		run.Driver, run.Argv = s.driver(), s.command()
	}
	if len(env) > 0 {
		maps.Copy(env, run.Env)
		run.Env = env
	}
	return run, nil
}
