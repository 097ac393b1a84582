package definition

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// reader turns nodes into a definition. It continues after a fault, so that the author
// can fix a file in one go and not line by line.
type reader struct {
	file   string
	faults Faults
	where  map[string]place
}

func (r *reader) fault(n *node, path, next, format string, args ...any) {
	r.faults = append(r.faults, Fault{File: r.file, Line: n.line, Column: n.column, Path: path, What: fmt.Sprintf(format, args...), Next: next})
}

// readers are the functions that read the values of a mapping, by key.
type readers map[string]func(n *node, path string)

// mapping passes each value to its reader. Unknown keys are faults, because a typing
// error must not silently mean the default.
func (r *reader) mapping(n *node, path, what string, known readers) bool {
	r.where[path] = n.place
	if n.kind != mapping {
		r.fault(n, path, "", "%s is a mapping, not %s", what, n.kind)
		return false
	}
	for _, f := range n.fields {
		at := join(path, f.key)
		r.where[at] = f.node.place
		read, ok := known[f.key]
		if !ok {
			words := sortedKeys(known)
			next := Meant(f.key, words)
			if _, ok := known["run"]; ok && slices.Contains(runKeys, f.key) {
				next = fmt.Sprintf("it belongs below run: write run: {argv: […], %s: …}", f.key)
				if slices.Contains([]string{"argv", "image", "url", "compose"}, f.key) {
					next = fmt.Sprintf("it belongs below run: write run: {%s: …}", f.key)
				}
			}
			if word, ok := foreign[what][f.key]; ok {
				next = word
			}
			if next == "" {
				next = "the keys are " + strings.Join(words, ", ")
			}
			r.faults = append(r.faults, Fault{File: r.file, Line: f.line, Column: f.column, Path: path, What: fmt.Sprintf("%s has no key %q", what, f.key), Next: next})
			continue
		}
		if f.node.kind == null { // an empty value is the same as no key
			continue
		}
		read(f.node, at)
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// text reads text. A number or a boolean where text belongs was probably meant as text;
// YAML read it differently, so its author should quote it.
func (r *reader) text(into *string) func(*node, string) {
	return func(n *node, path string) {
		s, ok := n.value.(string)
		if !ok {
			next := ""
			if n.kind == number || n.kind == boolean {
				next = fmt.Sprintf("put it in quotes: %q", fmt.Sprint(n.value))
			}
			r.fault(n, path, next, "expected text, got %s", n.kind)
			return
		}
		*into = s
	}
}

// name reads text that becomes part of keys, paths and commands.
func (r *reader) name(into *string, what string) func(*node, string) {
	return func(n *node, path string) {
		r.text(into)(n, path)
		if n.kind == text && !validKey(*into) {
			r.fault(n, path, "use ASCII letters, digits, _ . and -, at most "+strconv.Itoa(maxKey)+" of them, beginning with a letter, a digit or _", "%q is no %s", *into, what)
		}
	}
}

func validKey(s string) bool { return len(s) <= maxKey && keyPattern.MatchString(s) }

// oneOf reads one of a few words.
func (r *reader) oneOf(into *string, words ...string) func(*node, string) {
	return func(n *node, path string) {
		r.text(into)(n, path)
		if n.kind == text && !slices.Contains(words, *into) {
			next := Meant(*into, words)
			if next == "" {
				next = "it is one of " + strings.Join(words, ", ")
			}
			r.fault(n, path, next, "%q is not known here", *into)
		}
	}
}

func (r *reader) boolean(into *bool) func(*node, string) {
	return func(n *node, path string) {
		b, ok := n.value.(bool)
		if !ok {
			r.fault(n, path, "write true or false, without quotes", "expected true or false, got %s", n.kind)
		}
		*into = b
	}
}

func (r *reader) integer(into *int, least, most int) func(*node, string) {
	return func(n *node, path string) {
		i, ok := n.value.(int64)
		switch {
		case !ok:
			r.fault(n, path, "", "expected a whole number, got %s", n.kind)
		case i < int64(least) || i > int64(most):
			r.fault(n, path, "", "%d is outside %d to %d", i, least, most)
		default:
			*into = int(i)
		}
	}
}

func (r *reader) float(into *float64, most float64) func(*node, string) {
	return func(n *node, path string) {
		switch v := n.value.(type) {
		case int64:
			*into = float64(v)
		case float64:
			*into = v
		default:
			r.fault(n, path, "", "expected a number, got %s", n.kind)
			return
		}
		if *into <= 0 || *into > most {
			r.fault(n, path, "", "%v is outside 0 to %v", *into, most)
		}
	}
}

func (r *reader) duration(into *Duration) func(*node, string) {
	return func(n *node, path string) {
		const next = "write it as 90s, 5m, 2h30m or 1d"
		s, ok := n.value.(string)
		if !ok {
			r.fault(n, path, next, "expected a duration, got %s", n.kind)
			return
		}
		d, err := ParseDuration(s)
		if err != nil {
			r.fault(n, path, next, "%s", err)
		}
		*into = d
	}
}

// texts reads a list of text. A single text stands for a list of one.
func (r *reader) texts(into *[]string) func(*node, string) {
	return func(n *node, path string) {
		if n.kind == text {
			*into = []string{n.value.(string)}
			return
		}
		if n.kind != sequence {
			r.fault(n, path, "write [a, b], or one line with a dash for each", "expected a list, got %s", n.kind)
			return
		}
		for i, one := range n.items {
			var s string
			r.where[item(path, i)] = one.place
			r.text(&s)(one, item(path, i))
			*into = append(*into, s)
		}
	}
}

// pairs reads a mapping of text to text. Numbers and booleans are taken as written: a
// label gpu: true is the text true.
func (r *reader) pairs(into *map[string]string) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != mapping {
			r.fault(n, path, "write {name: value}", "expected a mapping, got %s", n.kind)
			return
		}
		*into = make(map[string]string, len(n.fields))
		for _, f := range n.fields {
			at := join(path, f.key)
			r.where[at] = f.node.place
			switch f.node.kind {
			case text, number, boolean:
				(*into)[f.key] = show(f.node.value)
			default:
				r.fault(f.node, at, "", "expected text, got %s", f.node.kind)
			}
		}
	}
}

// values reads a mapping of anything.
func (r *reader) values(into *map[string]any) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != mapping {
			r.fault(n, path, "write {name: value}", "expected a mapping, got %s", n.kind)
			return
		}
		*into = n.any().(map[string]any)
		r.remember(n, path)
	}
}

// remember keeps the places of everything below a value, for Lint.
func (r *reader) remember(n *node, path string) {
	r.where[path] = n.place
	for i, one := range n.items {
		r.remember(one, item(path, i))
	}
	for _, f := range n.fields {
		r.remember(f.node, join(path, f.key))
	}
}

// stem returns the name that a file gives to its workflow.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		base = strings.TrimSuffix(base, ext)
	}
	if !validKey(base) || base == "." {
		return ""
	}
	return base
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// foreign has the words of other tools for what this language has under another name, by
// what the key stands in. The advice of an unknown key is looked up here first.
var foreign = map[string]map[string]string{
	"a step": {
		"if": "write when: params.x > 3, an expression without {{ }}", "condition": "write when: params.x > 3", "unless": "write when: not (…)",
		"matrix": "write map: {matrix: {os: [linux, windows]}}", "strategy": "write map: {matrix: {os: [linux, windows]}, limit: 2}",
		"foreach": "write map: {over: params.list}, and read .item", "for_each": "write map: {over: params.list}, and read .item",
		"loop": "write map: {over: params.list}, and read .item", "with_items": "write map: {over: params.list}, and read .item",
		"parallel":   "steps run in parallel unless one needs the other; many alike: map: {over: params.list}",
		"on_failure": "write a step of its own: needs: [this], rule: one_failed", "on_error": "write a step of its own: needs: [this], rule: one_failed",
		"catch": "write a step of its own: needs: [this], rule: one_failed", "on_success": "write a step of its own that needs this one",
		"always": "write finally: true", "on_exit": "write a step of its own with finally: true", "onExit": "write a step of its own with finally: true",
		"ensure": "write a step of its own with finally: true", "after_script": "write a step of its own with finally: true",
		"continue_on_error": "the steps behind it go on with rule: all_done", "continue-on-error": "the steps behind it go on with rule: all_done",
		"allow_failure": "the steps behind it go on with rule: all_done",
		"cache":         "there is no cache: keep files with artifacts: and fetch them with inputs:, or keep them on the node and use sticky:",
		"uses":          "write workflow: NAME for another workflow, or run: {image: …}", "with": "write params: {name: value}",
		"name": "write key: name, and description: for people", "id": "write key:", "label": "write key:, and description: for people",
		"command": "write run: [program, argument], or script: | for lines of a shell", "cmd": "write run: [program, argument], or script: | for lines of a shell",
		"exec": "write run: [program, argument], or script: | for lines of a shell", "bash": "write script: | and shell: bash -euo pipefail",
		"sh": "write script: |", "commands": "write script: |", "steps": "a step has no steps: write workflow: NAME, or more steps with needs:",
		"depends": "write needs: [step]", "dependencies": "write needs: [step]", "after": "write needs: [step]", "requires": "write needs: [step]",
		"retries": "write retry: {max_attempts: 3}", "timeout-minutes": "write timeout: {run: 20m}", "timeout_minutes": "write timeout: {run: 20m}",
		"runs-on": "write labels: {os: linux}: the node must have them", "runs_on": "write labels: {os: linux}: the node must have them",
		"tags": "write labels: {os: linux}: the node must have them", "node": "write labels: {node: NAME}", "queue": "write pool: NAME, or labels:",
		"working-directory": "write run: {dir: …} beside script:", "cwd": "write run: {dir: …} beside script:",
		"concurrency": "write pool: NAME", "outputs": "print ::result {\"x\": 1}, and read .needs.STEP.result.x", "environment": "write env: {NAME: value}",
		"variables": "write env: {NAME: value}", "vars": "write env: {NAME: value}", "args": "write run: [program, argument]", "manual": "write approval: who decides",
	},
	"a workflow": {
		"jobs": "write steps: and one step per dash", "tasks": "write steps: and one step per dash", "stages": "write steps: with needs:", "dag": "write steps: with needs:",
		"on": "write schedules: for times", "schedule": "write schedules: [{spec: \"0 2 * * *\", zone: Europe/Budapest}]", "cron": "write schedules: [{spec: \"0 2 * * *\"}]",
		"trigger": "triggers stand beside a workflow: weir trigger set", "triggers": "triggers stand beside a workflow: weir trigger set", "inputs": "write params:", "arguments": "write params:", "variables": "write env: or params:",
		"vars": "write env: or params:", "environment": "write env: {NAME: value}", "timezone": "write zone: Europe/Budapest",
		"concurrency": "write max_running: 1", "id": "write name:", "on_failure": "write a step with needs: and rule: one_failed",
		"finally": "mark a step with finally: true", "on_exit": "mark a step with finally: true", "onExit": "mark a step with finally: true", "handlers": "mark a step with finally: true, or rule: one_failed",
		"matrix": "write map: {matrix: …} in a step", "strategy": "write map: {matrix: …} in a step", "cache": "there is no cache: keep files with artifacts: and fetch them with inputs:",
		"if": "write when: in a step", "max_active_runs": "write max_running:", "max-parallel": "write max_running:",
	},
	"map": {
		"max-parallel": "write limit:", "max_parallel": "write limit:", "parallel": "write limit:", "items": "write over:", "include": "write over: concat(…, …)", "fail-fast": "write tolerate:",
	},
	"timeout": {"minutes": "write run: 20m", "seconds": "write run: 90s"},
	"retry":   {"attempts": "write max_attempts:", "limit": "write max_attempts:", "max": "write max_attempts:", "delay": "write backoff:", "interval": "write backoff:"},
}
