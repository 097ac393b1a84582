package definition

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Parse reads a definition in YAML or JSON. name is the file's name: faults begin with
// it, and a definition without a name gets its stem. A bare list is taken as the steps.
//
// Parse checks the form: keys, kinds of values, limits. [Definition.Lint] checks the
// meaning. If there is a fault that is not a warning, the definition is nil, and the
// faults include what else Lint would find, so that the author can fix the file in one
// go.
func Parse(name string, source []byte) (*Definition, Faults) {
	root, faults := tree(name, source)
	if len(faults) > 0 {
		return nil, faults
	}
	r := &reader{file: name, where: map[string]place{}}
	d := &Definition{file: name, where: r.where, lines: strings.Split(string(source), "\n")}
	r.definition(d, root)
	if d.Name == "" {
		d.Name = stem(name)
	}
	if len(r.faults) > 0 {
		return nil, append(r.faults, d.besides(r.faults)...).sorted()
	}
	d.remember()
	return d, nil
}

// ParseJSON reads the stored form, that of [Definition.JSON].
func ParseJSON(stored json.RawMessage) (*Definition, error) {
	d, faults := Parse("", stored)
	if err := faults.Err(); err != nil {
		return nil, fmt.Errorf("read a stored workflow: %w", err)
	}
	return d, nil
}

// JSON returns the definition in its one normal form: the same definition gives the same
// bytes, however it was written.
func (d *Definition) JSON() json.RawMessage {
	out, err := json.Marshal(d)
	if err != nil { // only values of JSON get in
		panic(fmt.Sprintf("definition: %v", err))
	}
	return out
}

func (r *reader) definition(d *Definition, root *node) {
	switch root.kind {
	case sequence: // the source's form: the name is given outside
		r.steps(d)(root, "steps")
		return
	case mapping:
		if isServices(root) {
			r.fault(root, "", "an agent reads it: weir agent --services-file FILE", "this is a file of services, not a workflow")
			return
		}
	default:
		r.fault(root, "", "write steps: and a list of steps below it", "a workflow is a mapping with steps, not %s", root.kind)
		return
	}
	active := true
	r.mapping(root, "", "a workflow", readers{
		"name":        r.name(&d.Name, "name"),
		"version":     r.integer(&d.Version, 0, 1<<30),
		"description": r.text(&d.Description),
		"params":      r.schema(&d.Params),
		"defaults":    r.values(&d.Defaults),
		"max_running": r.integer(&d.MaxRunning, 0, 1_000_000),
		"priority":    r.integer(&d.Priority, -100, 100),
		"zone":        r.text(&d.Zone),
		"labels":      r.pairs(&d.Labels),
		"env":         r.pairs(&d.Env),
		"retry":       r.retry(&d.Retry),
		"timeout":     r.timeout(&d.Timeout),
		"disconnect":  r.disconnect(&d.Disconnect),
		"schedules":   r.schedules(&d.Schedules),
		"steps":       r.steps(d),
		"is_active":   r.boolean(&active), // of the source; the caller that stores it sets it
	})
	if root.field("steps") == nil {
		r.fault(root, "", "write steps: and a list of steps below it", "a workflow needs steps")
	}
}

// isServices recognizes a file for an agent: services, each with how it is run.
func isServices(root *node) bool {
	for _, f := range root.fields {
		if f.node.kind != mapping || f.node.field("run") == nil && f.node.field("slots") == nil {
			return false
		}
	}
	return len(root.fields) > 0
}

// schema reads the schema of the params: a JSON Schema of an object, or its
// short form, a mapping of names to the schemas of the single params.
func (r *reader) schema(into *json.RawMessage) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != mapping {
			r.fault(n, path, "write the name of each param and what it is: width: {type: integer, default: 1920}", "expected a mapping, got %s", n.kind)
			return
		}
		r.remember(n, path)
		whole, _ := n.any().(map[string]any)
		if !isSchema(n) {
			var ok bool
			if whole, ok = r.short(n, path); !ok {
				return
			}
		}
		out, err := json.Marshal(whole)
		if err != nil {
			r.fault(n, path, "", "%s", err)
			return
		}
		*into = out
		if _, err := compileSchema(out); err != nil {
			at, next := &node{place: n.place}, "see json-schema.org for what a schema may say"
			if bad, ok := errors.AsType[*schemaFault](err); ok {
				path, at.place = r.inSchema(bad.at, path, at.place)
				next = cmp.Or(bad.next, next)
			}
			r.fault(at, path, next, "the schema is wrong: %s", err)
		}
	}
}

// inSchema finds the place of a part of a schema, in either form.
func (r *reader) inSchema(at []string, path string, other place) (string, place) {
	for _, short := range []bool{false, true} {
		parts := at
		if short && len(at) > 1 && at[0] == "properties" {
			parts = at[1:]
		}
		whole := path
		for _, part := range parts {
			whole = join(whole, part)
		}
		if p, ok := r.where[whole]; ok {
			return whole, p
		}
	}
	return path, other
}

// isSchema distinguishes a whole schema from the short form, in which every value is
// itself a mapping.
func isSchema(n *node) bool {
	if len(n.fields) == 0 {
		return true
	}
	for _, key := range []string{"type", "$ref", "$schema", "$id", "required", "additionalProperties"} {
		if f := n.field(key); f != nil && f.kind != mapping {
			return true
		}
	}
	properties := n.field("properties")
	return properties != nil && properties.kind == mapping && properties.field("type") == nil
}

// short makes a whole schema of the short form.
func (r *reader) short(n *node, path string) (map[string]any, bool) {
	properties, required, ok := map[string]any{}, []any{}, true
	for _, f := range n.fields {
		one, isMapping := f.node.any().(map[string]any)
		if f.node.kind == null {
			one, isMapping = map[string]any{}, true
		}
		if !isMapping {
			r.fault(f.node, join(path, f.key), fmt.Sprintf("write %s: {type: string, default: …}", f.key), "expected what the param is, got %s", f.node.kind)
			ok = false
			continue
		}
		if must, isBool := one["required"].(bool); isBool {
			delete(one, "required")
			if must {
				required = append(required, f.key)
			}
		}
		properties[f.key] = one
	}
	whole := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		whole["required"] = required
	}
	return whole, ok
}

func (r *reader) schedules(into *[]Schedule) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != sequence {
			r.fault(n, path, "write one line with a dash for each schedule", "expected a list, got %s", n.kind)
			return
		}
		for i, one := range n.items {
			var s Schedule
			at := item(path, i)
			if one.kind == text {
				r.where[at] = one.place
				s.Spec = one.value.(string)
				*into = append(*into, s)
				continue
			}
			if !r.mapping(one, at, "a schedule", readers{
				"name": r.name(&s.Name, "name"), "spec": r.text(&s.Spec), "cron": r.text(&s.Spec), "zone": r.text(&s.Zone), "params": r.values(&s.Params),
				"overlap": r.oneOf(&s.Overlap, "skip", "queue_one", "queue_all", "cancel_running", "allow"),
				"missed":  r.oneOf(&s.Missed, "skip", "one", "all"), "catch_up": r.duration(&s.CatchUp), "jitter": r.duration(&s.Jitter), "paused": r.boolean(&s.Paused),
			}) {
				continue
			}
			r.alias(one, at, "spec", "cron")
			if s.Spec == "" {
				r.fault(one, at, `write spec: "0 6 * * *", "@daily" or "@every 90s"`, "a schedule needs its spec")
			}
			*into = append(*into, s)
		}
	}
}

// alias refuses two names of the same field at once.
func (r *reader) alias(n *node, path, name, other string) {
	if n.field(name) != nil && n.field(other) != nil {
		r.fault(n.field(other), join(path, other), "keep "+name, "%s and %s mean the same", name, other)
	}
}

func (r *reader) retry(into **Retry) func(*node, string) {
	return func(n *node, path string) {
		v := &Retry{}
		*into = v
		if n.kind == number {
			r.integer(&v.MaxAttempts, 1, 10000)(n, path)
			return
		}
		r.mapping(n, path, "retry", readers{
			"max_attempts": r.integer(&v.MaxAttempts, 1, 10000), "backoff": r.duration(&v.Backoff), "cap": r.duration(&v.Cap), "on": r.codes(&v.On),
		})
	}
}

func (r *reader) codes(into *[]int) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != sequence {
			r.fault(n, path, "write [1, 75]", "expected a list of exit codes, got %s", n.kind)
			return
		}
		for i, one := range n.items {
			var code int
			r.integer(&code, 1, 255)(one, item(path, i))
			*into = append(*into, code)
		}
	}
}

func (r *reader) disconnect(into **Disconnect) func(*node, string) {
	return func(n *node, path string) {
		v := &Disconnect{}
		*into = v
		const advice = "write disconnect: {keep: 10m}, or keep: 0s to stop the work when its lease ends"
		if n.kind == text || n.kind == number { // a duration alone is keep
			r.duration(&v.Keep)(n, path)
		} else {
			r.mapping(n, path, "disconnect", readers{"keep": r.duration(&v.Keep)})
		}
		if n.kind == mapping && n.field("keep") == nil {
			r.fault(n, path, advice, "disconnect needs keep")
		}
		if time.Duration(v.Keep) > maxKeep {
			r.fault(n, path+".keep", advice, "%s is longer than a day", v.Keep)
		}
	}
}

func (r *reader) timeout(into **Timeout) func(*node, string) {
	return func(n *node, path string) {
		v := &Timeout{}
		*into = v
		if n.kind == text || n.kind == number {
			r.duration(&v.Run)(n, path)
			return
		}
		r.mapping(n, path, "timeout", readers{
			"queue": r.duration(&v.Queue), "start": r.duration(&v.Start), "run": r.duration(&v.Run), "heartbeat": r.duration(&v.Heartbeat),
		})
	}
}
