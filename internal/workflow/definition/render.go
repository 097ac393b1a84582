package definition

import (
	"encoding/json"
	"fmt"
	"maps"
)

// made is a step with all its templates filled in.
type made struct {
	params   json.RawMessage
	labels   map[string]string
	run      json.RawMessage
	hold     string
	patience *Patience
}

func (m *made) fill(task *Task) {
	task.Params, task.Labels, task.Run, task.Hold, task.Patience = m.params, m.labels, m.run, m.hold, m.patience
}

// order is the JSON that tells a worker how to run a task: the step's run, its secrets
// and files, and its limits.
type order struct {
	*Run
	Secrets   map[string]string `json:"secrets,omitempty"`
	Files     map[string]string `json:"files,omitempty"`
	Artifacts []string          `json:"artifacts,omitempty"`
	Inputs    []From            `json:"inputs,omitempty"`
	Timeout   *Timeout          `json:"timeout,omitempty"`
	// Disconnect is only set where the definition says so, because the node has a default.
	Disconnect *Disconnect `json:"disconnect,omitempty"`
	RetryOn    []int       `json:"retry_on,omitempty"`
}

// renderer fills in the templates of one step for one job or one item.
type renderer struct {
	*compiled
	env map[string]any
	b   *budget
}

// render makes a step from its env. Sticky labels are not part of it.
func (d *Definition) render(c *compiled, params map[string]any, options Options, env map[string]any) (*made, error) {
	r := &renderer{c, env, newBudget()}
	s, out := c.step, &made{}
	own, err := r.params(params, options)
	if err != nil {
		return nil, err
	}
	if out.params = encode(own); len(out.params) > maxParams {
		return nil, tooLarge("steps."+s.Key+".params", fmt.Sprintf("step %s: params: %d bytes are over the limit of 1 MiB", s.Key, len(out.params)))
	}
	if out.hold, err = r.text("approval", s.Approval.Words()); err != nil {
		return nil, err
	}
	if out.labels, err = r.pairs("labels", s.Labels); err != nil {
		return nil, err
	}
	out.labels = merged(d.Labels, out.labels, options.Labels)
	needed := out.labels
	if s.Prefer != nil {
		prefer, err := r.pairs("prefer.labels", s.Prefer.Labels)
		if err != nil {
			return nil, err
		}
		out.labels = merged(prefer, needed)
	}
	out.patience = d.patience(s, out.labels, needed)
	out.run, err = d.order(r, own)
	return out, err
}

// merged returns all labels; later ones take precedence. It returns nil if there are
// none.
func merged(all ...map[string]string) map[string]string {
	var out map[string]string
	for _, labels := range all {
		if len(labels) == 0 {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		maps.Copy(out, labels)
	}
	return out
}

// params returns the step's params: what it states, with plain values replaced by the
// options of the job, and the options of the step over it. A step that states none gets
// the job's.
func (r *renderer) params(job map[string]any, options Options) (map[string]any, error) {
	s, own := r.step, options.Steps[r.step.Key].Params
	out := map[string]any{}
	if s.Params == nil {
		maps.Copy(out, job)
	}
	for _, key := range sortedKeys(s.Params) {
		if given, ok := options.Params[key]; ok && !hasTemplate(s.Params[key]) {
			out[key] = tidy(given)
			continue
		}
		v, err := r.value(join("params", key), s.Params[key])
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	for key, v := range own {
		out[key] = tidy(v)
	}
	return out, nil
}

// value fills in the templates inside a value.
func (r *renderer) value(path string, v any) (any, error) {
	switch v := v.(type) {
	case string:
		t, ok := r.templates[v]
		if !ok {
			return v, nil
		}
		out, err := t.render(r.env, r.b)
		if err == nil {
			var size int
			if size, err = r.b.weigh(out); err == nil && size > 2*maxParams {
				err = fmt.Errorf("the value is over the limit of 1 MiB")
			}
		}
		if err != nil {
			return nil, stepError(r.step, path, err)
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			one, err := r.value(item(path, i), v[i])
			if err != nil {
				return nil, err
			}
			out[i] = one
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			one, err := r.value(join(path, key), v[key])
			if err != nil {
				return nil, err
			}
			out[key] = one
		}
		return out, nil
	default:
		return v, nil
	}
}

func (r *renderer) text(path, s string) (string, error) {
	v, err := r.value(path, s)
	if err != nil {
		return "", err
	}
	if _, err := r.b.weigh(v); err != nil {
		return "", stepError(r.step, path, err)
	}
	return show(v), nil
}

func (r *renderer) pairs(path string, pairs map[string]string) (map[string]string, error) {
	if pairs == nil {
		return nil, nil
	}
	out := make(map[string]string, len(pairs))
	for _, key := range sortedKeys(pairs) {
		var err error
		if out[key], err = r.text(join(path, key), pairs[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// order returns nil for plain work, because a worker that handles the service needs no
// order.
func (d *Definition) order(r *renderer, params map[string]any) (json.RawMessage, error) {
	s := r.step
	o := order{Secrets: s.Secrets, Files: s.Files, Artifacts: s.Artifacts, Inputs: s.Inputs}
	if t := d.timeout(s); t != nil && (t.Start > 0 || t.Heartbeat > 0) {
		o.Timeout = &Timeout{Start: t.Start, Heartbeat: t.Heartbeat}
	}
	o.Disconnect = orElse(s.Disconnect, d.Disconnect)
	var err error
	if s.Run != nil || s.Script != "" {
		if retry := orElse(s.Retry, d.Retry); retry != nil {
			o.RetryOn = retry.On
		}
	}
	if o.Run, err = d.work(r, params); err != nil {
		return nil, err
	}
	out := encode(o)
	if string(out) == "{}" {
		return nil, nil
	}
	if len(out) > maxParams {
		return nil, tooLarge("steps."+s.Key+".run", fmt.Sprintf("step %s: run: %d bytes are over the limit of 1 MiB", s.Key, len(out)))
	}
	return out, nil
}

// run fills in the templates of a copy.
func (r *renderer) run(run Run) (*Run, error) {
	argv := make([]string, len(run.Argv))
	for i, arg := range run.Argv {
		var err error
		if argv[i], err = r.text(item("run.argv", i), arg); err != nil {
			return nil, err
		}
	}
	run.Argv = argv
	var err error
	if run.Env, err = r.pairs("run.env", run.Env); err != nil {
		return nil, err
	}
	if run.Headers, err = r.pairs("run.headers", run.Headers); err != nil {
		return nil, err
	}
	texts := []struct {
		path string
		text *string
	}{{"run.dir", &run.Dir}, {"run.image", &run.Image}, {"run.memory", &run.Memory}, {"run.network", &run.Network}, {"run.url", &run.URL}}
	if run.Compose != nil {
		compose := *run.Compose
		run.Compose = &compose
		texts = append(texts, struct {
			path string
			text *string
		}{"run.compose.url", &compose.URL})
	}
	for _, t := range texts {
		if *t.text, err = r.text(t.path, *t.text); err != nil {
			return nil, err
		}
	}
	return &run, nil
}
