package definition

import (
	"fmt"
	"strings"
)

func (r *reader) steps(d *Definition) func(*node, string) {
	return func(n *node, path string) {
		r.where[path] = n.place
		if n.kind != sequence {
			r.fault(n, path, "write one step per dash: - key: ingest", "expected a list of steps, got %s", n.kind)
			return
		}
		if len(n.items) == 0 {
			r.fault(n, path, "write at least one: - key: ingest", "a workflow needs at least one step")
			return
		}
		if len(n.items) > maxSteps {
			r.fault(n.items[maxSteps], path, "map over a list, or split it into sub-workflows", "%d steps are over the limit of %d", len(n.items), maxSteps)
			return
		}
		seen := map[string]place{}
		d.Steps = make([]Step, 0, len(n.items))
		for i, one := range n.items {
			var s Step
			if !r.step(&s, one, item(path, i)) {
				continue
			}
			if first, ok := seen[s.Key]; ok && s.Key != "" {
				r.fault(keyNode(one), item(path, i)+".key", "give each step a key of its own", "two steps are called %q; the first is on line %d", s.Key, first.line)
			}
			seen[s.Key] = one.place
			d.Steps = append(d.Steps, s)
		}
	}
}

func keyNode(step *node) *node {
	if key := step.field("key"); key != nil {
		return key
	}
	return step
}

func (r *reader) step(s *Step, n *node, path string) bool {
	s.Line, s.Column = n.line, n.column
	ok := r.mapping(n, path, "a step", readers{
		"key":            r.name(&s.Key, "key"),
		"description":    r.text(&s.Description),
		"service":        r.text(&s.Service),
		"needs":          r.texts(&s.Needs),
		"depends_on":     r.texts(&s.Needs),
		"rule":           r.oneOf(&s.Rule, "all_success", "all_done", "one_failed"),
		"finally":        r.boolean(&s.Finally),
		"when":           r.condition(&s.When),
		"params":         r.values(&s.Params),
		"default_params": r.values(&s.Params),
		"map":            r.mapped(&s.Map),
		"workflow":       r.text(&s.Workflow),
		"retry":          r.retry(&s.Retry),
		"timeout":        r.timeout(&s.Timeout),
		"disconnect":     r.disconnect(&s.Disconnect),
		"labels":         r.pairs(&s.Labels),
		"prefer":         r.prefer(&s.Prefer),
		"sticky":         r.sticky(&s.Sticky),
		"pool":           r.text(&s.Pool),
		"priority":       func(n *node, path string) { s.Priority = new(int); r.integer(s.Priority, -100, 100)(n, path) },
		"approval":       r.approval(&s.Approval),
		"wait":           r.waits(&s.Wait),
		"delay":          r.duration(&s.Delay),
		"artifacts":      r.texts(&s.Artifacts),
		"inputs":         r.inputs(&s.Inputs),
		"secrets":        r.pairs(&s.Secrets),
		"files":          r.pairs(&s.Files),
		"run":            r.run(&s.Run, n),
		"script":         r.script(&s.Script),
		"shell":          r.words(&s.Shell),
		"env":            r.pairs(&s.Env),
	})
	if !ok {
		return false
	}
	r.alias(n, path, "needs", "depends_on")
	r.alias(n, path, "params", "default_params")
	if s.Key == "" && n.field("key") == nil {
		r.fault(n, path, "name it: key: ingest", "a step needs a key")
	}
	unread := s.Run != nil && s.Run.Driver == "" || n.kind == mapping && n.field("script") != nil // a fault already
	if s.service() == "" && !unread || s.Run != nil && s.Run.Driver == "func" && s.Service == "" {
		r.fault(n, path, "say who does it (service: …), how (run: … or script: |), which workflow it is (workflow: …), or what it waits for (wait: …)", "step %q says nothing of what to do", s.Key)
	}
	if len(s.Shell) > 0 && s.Script == "" && n.field("script") == nil {
		r.fault(n.field("shell"), path+".shell", "write script: | and the lines of the script below it", "a shell without a script does nothing")
	}
	if len(s.Service) > 200 {
		r.fault(n.field("service"), path+".service", "", "a service's name has at most 200 characters")
	}
	return true
}

// condition reads an expression. true and false are expressions too, although YAML reads
// them as booleans.
func (r *reader) condition(into *string) func(*node, string) {
	return func(n *node, path string) {
		if b, ok := n.value.(bool); ok {
			*into = fmt.Sprint(b)
			return
		}
		r.text(into)(n, path)
		*into = strings.TrimSpace(*into)
	}
}

func (r *reader) mapped(into **Map) func(*node, string) {
	return func(n *node, path string) {
		v := &Map{}
		*into = v
		over := func(n *node, path string) {
			r.remember(n, path)
			switch n.kind {
			case text:
				v.Over = strings.TrimSpace(n.value.(string))
			case sequence:
				v.Over = n.any()
				if len(n.items) > maxSteps {
					r.fault(n, path, "map over parts of the list in sub-workflows", "%d items are over the limit of %d", len(n.items), maxSteps)
				}
			default:
				r.fault(n, path, "write a list, or an expression such as needs.scan.result.files", "expected a list or an expression, got %s", n.kind)
			}
		}
		if n.kind != mapping {
			over(n, path+".over")
			return
		}
		r.mapping(n, path, "map", readers{
			"over": over, "matrix": r.matrix(&v.Matrix), "exclude": r.combinations(&v.Exclude),
			"limit": r.integer(&v.Limit, 0, maxSteps), "tolerate": r.integer(&v.Tolerate, 0, maxSteps),
		})
		switch matrix := n.field("matrix"); {
		case n.field("over") == nil && matrix == nil:
			r.fault(n, path, "write over: and a list, or an expression such as needs.scan.result.files", "map needs something to go over")
		case n.field("over") != nil && matrix != nil:
			r.fault(matrix, path+".matrix", "keep one of the two", "over and matrix both say what to go over")
		case n.field("exclude") != nil && matrix == nil:
			r.fault(n.field("exclude"), path+".exclude", "filter the list: over: filter(params.list, # != 3)", "only a matrix has combinations to leave out")
		}
	}
}

func (r *reader) prefer(into **Prefer) func(*node, string) {
	return func(n *node, path string) {
		v := &Prefer{}
		*into = v
		r.mapping(n, path, "prefer", readers{"labels": r.pairs(&v.Labels), "for": r.duration(&v.For)})
		if n.kind == mapping && n.field("labels") == nil {
			r.fault(n, path, "write prefer: {labels: {gpu: true}, for: 30s}", "prefer needs labels")
		}
	}
}

func (r *reader) sticky(into **Sticky) func(*node, string) {
	return func(n *node, path string) {
		v := &Sticky{}
		*into = v
		if n.kind == text {
			r.text(&v.To)(n, path)
			r.where[path+".to"] = n.place
			return
		}
		r.mapping(n, path, "sticky", readers{"to": r.text(&v.To), "hard": r.boolean(&v.Hard), "for": r.duration(&v.For)})
		if n.kind == mapping && v.To == "" {
			r.fault(n, path, "write sticky: {to: ingest}", "sticky needs the step whose node it wants")
		}
	}
}

func (r *reader) inputs(into *[]From) func(*node, string) {
	return func(n *node, path string) {
		if n.kind != sequence {
			r.fault(n, path, "write [{from: ingest, name: '*.wav'}]", "expected a list, got %s", n.kind)
			return
		}
		for i, one := range n.items {
			var v From
			at := item(path, i)
			if s, ok := one.value.(string); ok { // ingest, or ingest/*.wav
				r.where[at] = one.place
				v.From, v.Name, _ = strings.Cut(s, "/")
			} else if !r.mapping(one, at, "an input", readers{"from": r.text(&v.From), "name": r.text(&v.Name)}) {
				continue
			}
			if v.From == "" {
				r.fault(one, at, "write {from: ingest}", "an input needs the step it is from")
			}
			*into = append(*into, v)
		}
	}
}

// script reads the text of a script.
func (r *reader) script(into *string) func(*node, string) {
	return func(n *node, path string) {
		r.text(into)(n, path)
		switch {
		case n.kind != text:
		case strings.TrimSpace(*into) == "":
			r.fault(n, path, "write the lines of the script below script: |", "the script is empty")
		case len(*into) > maxScript:
			r.fault(n, path, "put it into a file that the node has, or into an image", "a script of %d bytes is over the limit of 64 KiB", len(*into))
		}
	}
}

// words reads a command as a list, or as a text whose words are separated by spaces.
func (r *reader) words(into *[]string) func(*node, string) {
	return func(n *node, path string) {
		r.texts(into)(n, path)
		if n.kind == text {
			*into = strings.Fields(n.value.(string))
		}
		if (n.kind == text || n.kind == sequence) && (len(*into) == 0 || (*into)[0] == "") {
			r.fault(n, path, "write bash -euo pipefail, or leave it out for sh -eu", "the shell is empty")
		}
	}
}

// run reads how a step is run, and derives the driver from the given fields.
func (r *reader) run(into **Run, step *node) func(*node, string) {
	return func(n *node, path string) {
		script := step.kind == mapping && step.field("script") != nil
		v := &Run{}
		*into = v
		switch n.kind {
		case sequence: // a list alone is the command
			r.texts(&v.Argv)(n, path+".argv")
			v.Driver = "exec"
			if script {
				r.fault(n, path, "keep one of the two", "run is a command, and script is one too")
			}
			if len(v.Argv) == 0 || v.Argv[0] == "" {
				r.fault(n, path, "write [ffmpeg, -i, in.mp4]", "the command is empty")
			}
			return
		case text:
			r.fault(n, path, "write script: instead of run: for lines of a shell, or the command as a list, [ffmpeg, -i, in.mp4], without a shell and its quotes", "a command is not one text")
			return
		default:
		}
		if !r.mapping(n, path, "run", readers{
			"driver": r.oneOf(&v.Driver, "exec", "docker", "compose", "http", "func"),
			"argv":   r.texts(&v.Argv), "env": r.pairs(&v.Env), "dir": r.text(&v.Dir),
			"image": r.text(&v.Image), "cpu": r.float(&v.CPU, 10000), "memory": r.memory(&v.Memory), "pids": r.integer(&v.Pids, 1, 1<<22), "network": r.text(&v.Network),
			"compose": r.compose(&v.Compose), "url": r.text(&v.URL), "method": r.oneOf(&v.Method, "GET", "POST", "PUT", "PATCH", "DELETE"), "headers": r.pairs(&v.Headers),
		}) {
			return
		}
		if v.Driver == "" {
			v.Driver = v.infer()
			if script && v.Driver == "func" {
				v.Driver = "exec"
			}
		}
		r.fits(v, n, path, script)
	}
}

func (v *Run) infer() string {
	switch {
	case v.Image != "":
		return "docker"
	case v.Compose != nil:
		return "compose"
	case v.URL != "":
		return "http"
	case len(v.Argv) > 0:
		return "exec"
	default:
		return "func"
	}
}

// drivers says which keys each driver uses, and which it requires.
var drivers = map[string]struct{ must, may []string }{
	"exec":    {[]string{"argv"}, []string{"env", "dir"}},
	"docker":  {[]string{"image"}, []string{"argv", "env", "dir", "cpu", "memory", "pids", "network"}},
	"compose": {[]string{"compose"}, []string{"env", "method", "headers"}},
	"http":    {[]string{"url"}, []string{"method", "headers"}},
	"func":    {nil, []string{"env"}},
}

// fits refuses a key that the driver would ignore.
func (r *reader) fits(v *Run, n *node, path string, script bool) {
	rule, ok := drivers[v.Driver]
	if !ok {
		return // a fault already
	}
	if argv := n.field("argv"); script && argv != nil {
		r.fault(argv, path+".argv", "keep one of the two", "argv is a command, and script is one too")
		return
	}
	if script && v.Driver != "exec" && v.Driver != "docker" {
		r.fault(n, path, "write run: {image: …}, run: {dir: …} or no run beside script", "the driver %s runs no script", v.Driver)
		return
	}
	for _, must := range rule.must {
		if n.field(must) == nil && (must != "argv" || !script) {
			r.fault(n, path, fmt.Sprintf("write %s:", must), "the driver %s needs %s", v.Driver, must)
		}
	}
	for _, f := range n.fields {
		if f.key == "driver" || contains(rule.must, f.key) || contains(rule.may, f.key) || !contains(runKeys, f.key) {
			continue
		}
		r.fault(&node{place: f.place}, join(path, f.key), fmt.Sprintf("%s takes %s", v.Driver, list(append(rule.may[:len(rule.may):len(rule.may)], rule.must...))), "the driver %s has no use for %s", v.Driver, f.key)
	}
	if argv := n.field("argv"); argv != nil && argv.kind == sequence && (len(v.Argv) == 0 || v.Argv[0] == "") {
		r.fault(argv, path+".argv", "write [ffmpeg, -i, in.mp4]", "the command is empty")
	}
}

var runKeys = []string{"argv", "env", "dir", "image", "cpu", "memory", "pids", "network", "compose", "url", "method", "headers"}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func (r *reader) compose(into **Compose) func(*node, string) {
	return func(n *node, path string) {
		v := &Compose{}
		*into = v
		if !r.mapping(n, path, "compose", readers{"file": r.text(&v.File), "service": r.text(&v.Service), "url": r.text(&v.URL), "idle": r.duration(&v.Idle)}) {
			return
		}
		for _, must := range []string{"file", "service"} {
			if n.field(must) == nil {
				r.fault(n, path, "write compose: {file: compose.yaml, service: renderer}", "compose needs its %s", must)
			}
		}
	}
}

// memory reads 512m or 2g.
func (r *reader) memory(into *string) func(*node, string) {
	return func(n *node, path string) {
		r.text(into)(n, path)
		if n.kind == text && !memoryPattern.MatchString(*into) && !strings.Contains(*into, "{{") {
			r.fault(n, path, "write 512m or 2g", "%q is no amount of memory", *into)
		}
	}
}
