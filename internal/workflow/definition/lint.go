package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// linter collects the semantic errors of a definition.
type linter struct {
	*Definition
	*graph
	faults Faults
	// params are the properties of the schema, or nil if there is none. closed is set if
	// there can be no others.
	params map[string]any
	closed bool
	read   map[string]bool
	// every is set if some step gets all params of the job, so that each is used.
	every bool
	// lost is set if there are steps whose keys could not be read.
	lost bool
}

// Lint finds what Parse cannot see in a single value: needs that do not exist or form a
// cycle, templates and expressions that cannot work, schedules that never fire. It needs
// no server. It does not report what only a server knows, such as whether a pool exists.
func (d *Definition) Lint() Faults {
	return (&linter{Definition: d, graph: graphOf(d), read: map[string]bool{}}).lint()
}

// besides finds further errors of a definition that has syntactic faults. It leaves out
// errors that may only be consequences of one of them.
func (d *Definition) besides(found Faults) Faults {
	l := &linter{Definition: d, graph: graphOf(d), read: map[string]bool{}}
	for i := range d.Steps {
		l.lost = l.lost || d.Steps[i].Key == ""
	}
	vague := false // what comes before what
	for _, f := range found {
		rest, inStep := strings.CutPrefix(f.Path, "steps[")
		_, rest, _ = strings.Cut(rest, "]")
		l.lost = l.lost || f.Path == "steps" || inStep && rest == "" && d.unread(f.Path)
		vague = vague || inStep && (rest == "" || strings.HasPrefix(rest, ".needs") || strings.HasPrefix(rest, ".depends_on"))
		if f.Path == "params" || strings.HasPrefix(f.Path, "params.") {
			d.Params = nil
		}
	}
	if l.lost || vague {
		l.before = nil
	}
	return slices.DeleteFunc(l.lint(), func(one Fault) bool {
		return one.Warning || slices.ContainsFunc(found, func(f Fault) bool {
			return f.Path != "" && strings.HasPrefix(one.Path, f.Path) && (len(one.Path) == len(f.Path) || one.Path[len(f.Path)] == '.' || one.Path[len(f.Path)] == '[')
		})
	})
}

// unread reports whether the step at a path is not among the steps.
func (d *Definition) unread(path string) bool {
	at := d.where[path]
	return !slices.ContainsFunc(d.Steps, func(s Step) bool { return s.Line == at.line && s.Column == at.column })
}

func (l *linter) lint() Faults {
	d := l.Definition
	var schema struct {
		Properties map[string]any `json:"properties"`
		Additional any            `json:"additionalProperties"`
	}
	if len(d.Params) > 0 && json.Unmarshal(d.Params, &schema) == nil {
		l.params = schema.Properties
		l.closed = schema.Additional == false
	}
	if d.Name == "" {
		l.add("", "write name: media, or give the file a name", "a workflow needs a name")
	}
	l.needs()
	l.finals()
	for i := range d.Steps {
		l.step(i)
	}
	l.environment()
	l.defaults()
	l.schedules()
	l.unused()
	return l.faults.sorted()
}

func (l *linter) add(path, next, format string, args ...any) {
	l.faults = append(l.faults, l.faultAt(path, next, format, args...))
}

func (l *linter) warn(path, next, format string, args ...any) {
	l.add(path, next, format, args...)
	l.faults[len(l.faults)-1].Warning = true
}

// needs checks that needs exist, once each, and form no cycle.
func (l *linter) needs() {
	for i := range l.Steps {
		s, seen := &l.Steps[i], map[string]bool{}
		for j, need := range s.Needs {
			at := item(item("steps", i)+".needs", j)
			if _, ok := l.where[at]; !ok { // of the source, or a single text
				at = item("steps", i) + ".depends_on"
				if _, ok := l.where[item(at, j)]; ok {
					at = item(at, j)
				} else if _, ok := l.where[at]; !ok {
					at = item("steps", i) + ".needs"
				}
			}
			_, known := l.number[need]
			switch {
			case need == s.Key:
				l.add(at, "remove it", "step %q needs itself", s.Key)
			case !known && l.lost:
			case !known:
				next := Meant(need, l.keys())
				if next == "" {
					next = "the steps are " + list(l.keys())
				}
				l.add(at, next, "step %q needs %q, which is not a step of this workflow", s.Key, need)
			case seen[need]:
				l.add(at, "remove one of the two", "step %q needs %q twice", s.Key, need)
			}
			seen[need] = true
		}
	}
	if ring := l.ring(); ring != nil {
		names := make([]string, 0, len(ring)+1)
		for i := len(ring) - 1; i >= 0; i-- {
			names = append(names, l.Steps[ring[i]].Key)
		}
		if len(names) > 8 {
			names = append(names[:7], "…", names[len(names)-1])
		}
		first := ring[0]
		for _, i := range ring {
			first = min(first, i)
		}
		l.add(item("steps", first), "remove one of these needs", "these steps wait for one another in a ring: %s → %s", strings.Join(names, " → "), names[0])
	}
}

// defaults checks that the default values would be accepted if they were given.
func (l *linter) defaults() {
	if len(l.Params) == 0 {
		return
	}
	for _, key := range sortedKeys(l.Defaults) {
		if _, ok := l.params[key]; !ok && l.closed {
			next := Meant(key, sortedKeys(l.params))
			if next == "" {
				next = "the params are " + list(sortedKeys(l.params))
			}
			l.add("defaults."+key, next, "params has no %q", key)
			return
		}
	}
	var schema map[string]any
	if json.Unmarshal(l.Params, &schema) != nil {
		return
	}
	delete(schema, "required") // those are given by a run
	relaxed := *l.Definition
	relaxed.Params, relaxed.memo = encode(schema), nil
	if _, err := relaxed.Input(Options{}); err != nil {
		l.refused(err, "defaults", "mend the default, or the schema", "the default does not fit the schema")
	}
}

// refused turns the problem of an input into a fault: at the value below own, or in the
// schema that states it.
func (l *linter) refused(err error, own, next, what string) {
	at, text := own, err.Error()
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		field := strings.TrimPrefix(strings.TrimPrefix(p.Field, "params"), ".")
		text = p.Sentence()
		at = join(own, field)
		if field == "" {
			at = own
		} else if _, ok := l.where[at]; !ok {
			for _, in := range []string{"params.properties." + field + ".default", "params." + field + ".default"} {
				if _, ok := l.where[in]; ok {
					at = in
				}
			}
		}
	}
	l.add(at, next, "%s: %s", what, text)
}

// someday is the time at which schedules are tried: any day works, and a fixed one always
// gives the same answer.
var someday = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (l *linter) schedules() {
	names := map[string]bool{}
	l.zone("zone", l.Zone)
	for i, s := range l.Schedules {
		path := item("schedules", i)
		if s.Name != "" && names[s.Name] {
			l.add(path+".name", "give each schedule a name of its own", "two schedules are called %q", s.Name)
		}
		names[s.Name] = true
		spec := path + ".spec"
		if _, ok := l.where[path+".cron"]; ok {
			spec = path + ".cron"
		}
		if _, ok := strings.CutPrefix(s.Spec, "@at "); ok {
			if _, err := time.Parse(time.RFC3339, strings.TrimSpace(s.Spec[4:])); err != nil {
				l.add(spec, "write @at 2026-11-15T10:00:00Z", "%q names no time", s.Spec)
			}
		} else if _, err := (weir.Schedule{Spec: s.Spec}).Next(someday); err != nil {
			l.add(spec, `write "0 6 * * *" (minute, hour, day, month, weekday), "@daily" or "@every 90s"`, "%s", problem.Explain(err).Sentence())
		}
		l.zone(path+".zone", s.Zone)
		if _, err := l.Input(Options{Params: s.Params}); err != nil {
			l.refused(err, path+".params", "a schedule gives what nobody else can: add it to its params", "its jobs would be refused")
		}
	}
}

func (l *linter) zone(path, zone string) {
	if _, err := (weir.Schedule{Spec: "@daily", Zone: zone}).Next(someday); err != nil {
		l.add(path, "write a place such as Europe/Budapest, or leave it out for UTC", "%s", problem.Explain(err).Sentence())
	}
}

// Past warns of single runs whose time is over, because they would start at once. It is
// not part of Lint, which has no clock.
func (d *Definition) Past(now time.Time) Faults {
	l := &linter{Definition: d}
	for i, s := range d.Schedules {
		rest, once := strings.CutPrefix(s.Spec, "@at ")
		if at, err := time.Parse(time.RFC3339, strings.TrimSpace(rest)); once && err == nil && at.Before(now) && s.Missed != "skip" {
			l.warn(item("schedules", i)+".spec", "give it a time to come, or missed: skip", "%s is over: it would run as soon as it is stored", at.Format(time.RFC3339))
		}
	}
	return l.faults
}

// unused reports params that no step reads.
func (l *linter) unused() {
	if l.every {
		return
	}
	for _, name := range sortedKeys(l.params) {
		if l.read[name] {
			continue
		}
		path := "params." + name
		if _, ok := l.where["params.properties."+name]; ok {
			path = "params.properties." + name
		}
		l.warn(path, fmt.Sprintf("read it as {{ .params.%s }}, or remove it", name), "no step reads this param")
	}
}
