package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Approval holds a step until a person decides. A text alone says who is asked, or why.
type Approval struct {
	Text string `json:"text"`
	// By are the users of whom one must decide, and role:NAME for those with a role or a
	// higher one. Empty means each user who may release a task.
	By []string `json:"by,omitempty"`
	// Expires is how long the step waits. Zero means forever.
	Expires Duration `json:"expires,omitempty"`
	// Then is what happens after that: fail (default) or release.
	Then string `json:"then,omitempty"`
}

// Wait makes a step of an event from outside: it is done when the event comes, with its
// payload as the result.
type Wait struct {
	// Event is its name. Empty means the key of the step.
	Event string `json:"event,omitempty"`
	// Timeout is how long the step waits. Zero means forever.
	Timeout Duration `json:"timeout,omitempty"`
	// Then is what happens after that: fail (default), or release, which lets the step be
	// done without a result.
	Then string `json:"then,omitempty"`
}

// Ask is what a held task asks for, in the form of the engine: the JSON that weir._ask
// takes.
type Ask struct {
	Event    string   `json:"event,omitempty"`
	Deciders []string `json:"deciders,omitempty"`
	Expires  string   `json:"expires,omitempty"`
	Late     string   `json:"late,omitempty"`
}

// Words returns who is asked, or why; empty if no approval is needed.
func (a *Approval) Words() string {
	if a == nil {
		return ""
	}
	return a.Text
}

// MarshalJSON writes an approval that is only a text as that.
func (a *Approval) MarshalJSON() ([]byte, error) {
	if a.plain() {
		return json.Marshal(a.Text)
	}
	type whole Approval
	return json.Marshal((*whole)(a))
}

func (a *Approval) plain() bool { return len(a.By) == 0 && a.Expires == 0 && a.Then == "" }

// asks reports whether the step asks for more than a release.
func (s *Step) asks() bool { return s.Wait != nil || s.Approval != nil && !s.Approval.plain() }

// EventOf returns the event that a step waits for, or an empty text.
func (s *Step) EventOf() string {
	switch {
	case s.Wait == nil:
		return ""
	case s.Wait.Event == "":
		return s.Key
	}
	return s.Wait.Event
}

// ask returns what a held step asks for, or nil.
func (s *Step) ask() *Ask {
	switch {
	case s.Wait != nil:
		return &Ask{Event: s.EventOf(), Expires: s.Wait.Timeout.interval(), Late: s.Wait.Then}
	case s.asks():
		return &Ask{Deciders: s.Approval.By, Expires: s.Approval.Expires.interval(), Late: s.Approval.Then}
	}
	return nil
}

func (r *reader) approval(into **Approval) func(*node, string) {
	return func(n *node, path string) {
		v := &Approval{}
		*into = v
		if n.kind != mapping {
			if r.text(&v.Text)(n, path); v.Text == "" {
				*into = nil
			}
			return
		}
		r.mapping(n, path, "approval", readers{
			"text": r.text(&v.Text), "by": r.texts(&v.By), "expires": r.duration(&v.Expires), "then": r.oneOf(&v.Then, "fail", "release"),
		})
		if v.Text == "" {
			r.fault(n, path, "write approval: {text: the editor on duty, by: [ann], expires: 2h}", "an approval needs a text that says who is asked, or why")
		}
	}
}

func (r *reader) waits(into **Wait) func(*node, string) {
	return func(n *node, path string) {
		v := &Wait{}
		*into = v
		if n.kind == text {
			r.name(&v.Event, "event")(n, path)
			return
		}
		r.mapping(n, path, "wait", readers{
			"event": r.name(&v.Event, "event"), "timeout": r.duration(&v.Timeout), "then": r.oneOf(&v.Then, "fail", "release"),
		})
	}
}

// deciders bounds the list of an approval.
const maxDeciders = 50

// Users returns the users whom the approval of a step names.
func (s *Step) Users() []string {
	if s.Approval == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Approval.By), func(name string) bool { return strings.HasPrefix(name, "role:") })
}

// WarnOfUsers warns of each approval that names one of these users, who do not exist. It is
// no error, because a user may come later.
func (d *Definition) WarnOfUsers(gone []string) Faults {
	var out Faults
	for i := range d.Steps {
		if d.Steps[i].Approval == nil {
			continue
		}
		for j, name := range d.Steps[i].Approval.By {
			if slices.Contains(gone, name) {
				f := d.faultAt(item(item("steps", i)+".approval.by", j), "create the user, or name a role: role:maintainer", "there is no user %q", name)
				f.Warning = true
				out = append(out, f)
			}
		}
	}
	return out
}

// asked checks what a step asks of the world outside.
func (l *linter) asked(s *Step, at string) {
	if a := s.Approval; a != nil {
		if len(a.By) > maxDeciders {
			l.add(at+".approval.by", "name a role: role:maintainer", "%d names are over the limit of %d", len(a.By), maxDeciders)
		}
		for i, name := range a.By {
			role, isRole := strings.CutPrefix(name, "role:")
			if isRole && !slices.Contains([]string{"viewer", "operator", "maintainer", "admin"}, role) {
				l.add(item(at+".approval.by", i), "write role:operator, role:maintainer or role:admin", "there is no role %q", role)
			}
			if name == "" || len(name) > 200 || isTemplate(name) {
				l.add(item(at+".approval.by", i), "write the name of a user, or role:maintainer", "%q is no name", name)
			}
		}
		if a.Then != "" && a.Expires == 0 {
			l.add(at+".approval.then", "add expires: 2h", "an approval that does not expire has no then")
		}
	}
	if s.Wait == nil {
		return
	}
	if s.Wait.Then != "" && s.Wait.Timeout == 0 {
		l.add(at+".wait.then", "add timeout: 2h", "a wait without a timeout has no then")
	}
	used := map[string]bool{
		"service": s.Service != "", "run": s.Run != nil, "map": s.Map != nil, "workflow": s.Workflow != "", "approval": s.Approval != nil,
		"secrets": len(s.Secrets) > 0, "files": len(s.Files) > 0, "inputs": len(s.Inputs) > 0, "artifacts": len(s.Artifacts) > 0,
		"pool": s.Pool != "", "sticky": s.Sticky != nil, "prefer": s.Prefer != nil, "labels": len(s.Labels) > 0,
		"timeout": s.Timeout != nil, "retry": s.Retry != nil, "delay": s.Delay > 0, "params": s.Params != nil,
	}
	for _, key := range sortedKeys(used) {
		if used[key] {
			l.add(join(at, key), "put it on a step of its own", "%s", fmt.Sprintf("a step that waits for an event has no %s", key))
		}
	}
}
