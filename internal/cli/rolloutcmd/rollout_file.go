package rolloutcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/cli/command"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/spelling"
	"github.com/weirhq/weir/internal/workflow/definition"
)

const (
	// planFile is what a folder's plan is called.
	planFile = "rollout.yaml"
	// changeMost is more than any file of SQL has.
	changeMost = 16 << 20
)

// planSource is a plan that was read from files.
type planSource struct {
	rollout.Plan
	// path is what was given, ignored what of the folder does not run.
	path    string
	ignored []script.Ignored
}

// readPlan reads a plan: from a YAML file, a folder of SQL files, or one such file.
// A folder with a rollout.yaml is that plan.
func readPlan(path string) (planSource, error) {
	p := planSource{path: path}
	const next = "give a folder with files such as V001__create_orders.sql, or a file that weir rollout init wrote"
	info, err := os.Stat(path)
	if err != nil {
		return p, command.Invalid(next, "read the plan: %s", err)
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(path, planFile)); err == nil {
			return readPlan(filepath.Join(path, planFile))
		}
		p.Name = nameOf(path)
		return p, p.addFolder(path)
	case ext == ".sql":
		p.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		return p, p.addFile(path)
	case ext == ".yaml" || ext == ".yml":
		return p, p.readYAML(path)
	}
	return p, command.Invalid(next, "%s is neither a folder, nor YAML, nor SQL", path)
}

// nameOf is the name of a folder, whatever it was called by.
func nameOf(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return filepath.Base(path)
}

// addFolder takes the SQL files of a folder, in the order in which they run.
func (p *planSource) addFolder(dir string) error {
	changes, ignored, err := script.ReadDir(os.DirFS(dir))
	if err != nil {
		return scriptFault(dir, err)
	}
	p.ignored = append(p.ignored, ignored...)
	for _, c := range changes {
		text, err := command.ReadFile(filepath.Join(dir, c.File), nil, changeMost)
		if err != nil {
			return command.Invalid("make the file readable", "read a change: %s", err)
		}
		p.Files = append(p.Files, rollout.File{Name: c.File, Text: string(text)})
	}
	if len(changes) == 0 {
		return command.Invalid("give its files names such as V001__create_orders.sql, 0001_orders.sql or 20260101120000_orders.sql", "%s has no change", dir)
	}
	return nil
}

// addFile takes one SQL file.
func (p *planSource) addFile(path string) error {
	text, err := command.ReadFile(path, nil, changeMost)
	if err != nil {
		return command.Invalid("name a file that is there", "read a change: %s", err)
	}
	if _, err := script.Read(filepath.Base(path), text); err != nil {
		return scriptFault(filepath.Dir(path), err)
	}
	p.Files = append(p.Files, rollout.File{Name: filepath.Base(path), Text: string(text)})
	return nil
}

// scriptFault tells what is wrong with a file of SQL, by the way to it.
func scriptFault(dir string, err error) error {
	var f *script.Fault
	if errors.As(err, &f) {
		at := *f
		at.Next = ""
		if at.File != "" {
			at.File = filepath.Join(dir, at.File)
		}
		return &problem.Problem{Kind: problem.Invalid, Field: "changes", What: at.Error(), Next: f.Next, Err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return command.Invalid("name a folder that is there", "changes: %s", err)
	}
	return &problem.Problem{Kind: problem.Invalid, Field: "changes", What: err.Error(), Err: err}
}

// planYAML is a plan as a file says it.
type planYAML struct {
	source *planSource
	file   string
	faults []placed
	// stages are where the fields of each stage stand.
	stages []map[string]*yaml.Node
}

// placed is a fault with its place.
type placed struct {
	line, column int
	what         string
}

// readYAML reads a file as weir rollout init writes it. What it does not know is a
// fault: passed over, it would be missed by nobody until it is needed.
func (p *planSource) readYAML(path string) error {
	text, err := command.ReadFile(path, nil, command.DefinitionMost)
	if err != nil {
		return command.Invalid("weir rollout init writes one to begin with", "read the plan: %s", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		f := definition.Syntax(path, text, err)
		return command.Invalid(f.Next, "%s:%d:%d: %s", path, f.Line, f.Column, f.What)
	}
	r := &planYAML{source: p, file: path}
	if len(document.Content) == 0 {
		r.fault(&document, "the file is empty: weir rollout init writes one to begin with")
	} else {
		r.plan(document.Content[0])
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b placed) int { return cmp.Or(a.line-b.line, a.column-b.column) })
		var what []string
		for _, f := range r.faults {
			what = append(what, fmt.Sprintf("%s:%d:%d: %s", path, f.line, f.column, f.what))
		}
		return &problem.Problem{Kind: problem.Invalid, What: strings.Join(what, "\n"), Next: "mend the file; weir rollout plan " + path + " --offline checks it without a server"}
	}
	return nil
}

func (r *planYAML) fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, placed{max(n.Line, 1), max(n.Column, 1), fmt.Sprintf(format, args...)})
}

// fields hands the values of a mapping to those who read them, and says where they are.
func (r *planYAML) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) map[string]*yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "%s: expected fields with values", what)
		return nil
	}
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read := known[key.Value]
		switch meant := spelling.Closest(key.Value, names); {
		case seen[key.Value] != nil:
			r.fault(key, "%s: %s is there twice", what, key.Value)
		case read != nil:
			read(value)
		case meant != "":
			r.fault(key, "%s has no field %q: did you mean %s?", what, key.Value, meant)
		default:
			r.fault(key, "%s has no field %q: there are %s", what, key.Value, strings.Join(names, ", "))
		}
		seen[key.Value] = value
	}
	return seen
}

// into reads a value of a kind, or says what was expected.
func into[T any](r *planYAML, name, want string, to *T) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(to); err != nil {
			r.fault(n, "%s: expected %s", name, want)
		}
	}
}

func (r *planYAML) plan(n *yaml.Node) {
	p := r.source
	var stages *yaml.Node
	at := r.fields(n, "a rollout", map[string]func(*yaml.Node){
		"name": into(r, "name", "text", &p.Name), "note": into(r, "note", "text", &p.Note),
		"parallel": into(r, "parallel", "a whole number", &p.Parallel), "out_of_order": into(r, "out_of_order", "true or false", &p.OutOfOrder),
		"run_at": r.runAt, "changes": r.changes, "stages": func(n *yaml.Node) { stages = n },
	})
	switch {
	case stages == nil:
		if len(r.faults) == 0 {
			r.fault(n, "stages: a rollout has at least one, such as stages: [test, prod]")
		}
	case stages.Kind != yaml.SequenceNode:
		r.fault(stages, "stages: expected a list, such as [test, prod]")
	default:
		for _, s := range stages.Content {
			r.stage(s)
		}
	}
	if len(p.Files) == 0 && len(r.faults) == 0 {
		r.fault(n, "changes: name a folder of SQL files, or files")
	}
	if p.Name == "" {
		p.Name = nameOf(filepath.Dir(r.file))
	}
	r.check(n, at)
}

// check finds what is wrong with the plan as a whole, at the places of its fields.
func (r *planYAML) check(n *yaml.Node, at map[string]*yaml.Node) {
	for _, f := range r.source.Faults() {
		fields, whole := at, n
		if f.Stage >= 0 {
			fields = r.stages[f.Stage]
			whole = fields[""]
			if f.Field == "name" && r.source.Stages[f.Stage].Name == "" {
				continue // said where the stage was read
			}
		} else if f.Field == "stages" {
			continue
		}
		place := fields[f.Field]
		if place == nil {
			place = whole
		}
		what := f.Said(r.source.Plan)
		if f.Stage < 0 {
			what = f.What
		}
		r.fault(place, "%s; %s", what, f.Next)
	}
}

func (r *planYAML) runAt(n *yaml.Node) {
	t, err := time.Parse(time.RFC3339, n.Value)
	if err != nil {
		r.fault(n, "run_at: expected a time such as 2026-01-31T08:00:00Z")
		return
	}
	r.source.RunAt = &t
}

// changes are a folder or a file, or a list of them, seen from the plan's folder.
func (r *planYAML) changes(n *yaml.Node) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, at := range nodes {
		path := at.Value
		if at.Kind != yaml.ScalarNode || path == "" {
			r.fault(at, "changes: expected the name of a folder or a file")
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(r.file), path)
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fault(at, "changes: %s", err)
			continue
		case info.IsDir():
			err = r.source.addFolder(path)
		default:
			err = r.source.addFile(path)
		}
		if err != nil {
			r.fault(at, "changes: %s", err)
		}
	}
}

func (r *planYAML) stage(n *yaml.Node) {
	var s rollout.Stage
	at := map[string]*yaml.Node{}
	if n.Kind == yaml.ScalarNode {
		s.Name = n.Value
	} else {
		maps.Copy(at, r.fields(n, "a stage", map[string]func(*yaml.Node){
			"name": into(r, "name", "text", &s.Name), "environment": into(r, "environment", "text", &s.Environment),
			"databases": into(r, "databases", "a list of names", &s.Databases), "labels": into(r, "labels", "fields with values", &s.Labels),
			"approvals": into(r, "approvals", "a whole number", &s.Approvals), "promote": into(r, "promote", "auto or manual", &s.Promote),
			"on_failure": into(r, "on_failure", "stop, continue or at_most", &s.OnFailure), "max_failures": into(r, "max_failures", "a whole number", &s.MaxFailures),
			"canary": into(r, "canary", "a whole number", &s.Canary),
		}))
	}
	at[""] = n
	if s.Name == "" {
		r.fault(n, "a stage needs a name")
	}
	r.source.Stages, r.stages = append(r.source.Stages, s), append(r.stages, at)
}
