package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/spelling"
)

// Where a retry goes after the infrastructure broke an attempt.
const (
	PlaceSame        = "same"
	PlaceOtherDevice = "other_device"
	PlaceOtherPC     = "other_pc"
)

// Which jobs a new device joins.
const (
	JoinPending = "pending"
	JoinRunning = "running"
)

// Spec is a fleet job as a person asks for it. It is a snapshot: later changes do not
// affect a submitted job.
type Spec struct {
	Name     string         `json:"name,omitempty" required:"true" maxLength:"200" doc:"For people, such as nightly."`
	Run      node.Run       `json:"run" doc:"What runs on each device, on its PC: argv, env, dir, secrets and so on, as a step of a workflow has it. It finds the device in WEIR_DEVICE_SERIAL, WEIR_DEVICE_TARGET, WEIR_DEVICE_HUB and WEIR_DEVICE_LABELS. Naming secrets takes the right to manage workflows."`
	Setup    *node.Command  `json:"setup,omitempty" doc:"A command that runs on the PC before each run, with its environment. If it fails, the run does not begin and counts as broken by the infrastructure."`
	Cleanup  *node.Command  `json:"cleanup,omitempty" doc:"A command that runs on the PC after each run, also after one that failed, timed out or was canceled. If it fails, the device becomes suspect."`
	Params   map[string]any `json:"params,omitempty" doc:"Handed to what runs."`
	Target   Target         `json:"target" doc:"On which devices. All that it names must hold."`
	Any      int            `json:"any,omitempty" minimum:"0" maximum:"100000" doc:"So many runs, which any device of the target may serve. Left out: one on each."`
	Repeat   int            `json:"repeat,omitempty" minimum:"0" maximum:"10000" doc:"The number of rounds. Default: 1."`
	Attempts int            `json:"attempts,omitempty" minimum:"0" maximum:"100" doc:"How often a run is tried. Default: 3."`
	Timeout  node.Span      `json:"timeout,omitzero" doc:"The longest time of an attempt. Default: 20m."`
	Backoff  *node.Span     `json:"backoff,omitempty" doc:"The longest wait before the second attempt; it doubles. Default: 10s."`
	Infra    *Infra         `json:"infra,omitempty" doc:"What happens to attempts that the infrastructure broke."`
	Join     string         `json:"join,omitempty" enum:"pending,running" doc:"running: a device that is new joins the job while it runs. Default: pending."`
	Breaker  *int           `json:"breaker,omitempty" minimum:"0" maximum:"100000" doc:"On how many good devices it may fail before it is stopped as bad, if it fails more than it succeeds. 0: never. Default: half of its devices, 2 to 5."`
	Lane     string         `json:"lane,omitempty" maxLength:"63" doc:"Jobs of one lane are active one after the other, those of different lanes side by side. Default: default."`
	Linger   *node.Span     `json:"linger,omitempty" doc:"How long it waits for devices that cannot serve it once nothing else is left. Default: 2m."`
	Priority int            `json:"priority,omitempty" minimum:"-100" maximum:"100" doc:"A higher one goes before older jobs."`
}

// Target says on which devices the job runs. A device must match everything that it
// names.
type Target struct {
	All     bool              `json:"all,omitempty"`
	Devices []string          `json:"devices,omitempty" maxItems:"100000" doc:"Serials."`
	Labels  map[string]string `json:"labels,omitempty"`
	Tag     string            `json:"tag,omitempty" maxLength:"200" doc:"The label tag."`
	Match   []string          `json:"match,omitempty" maxItems:"50" doc:"Conditions on labels: android>=13, model in (a, b), not tag=old. Operators are = != >= > <= < in, not in; numbers and versions are compared as such."`
}

// condition has the same form as weir._label_condition, which takes it apart.
var condition = regexp.MustCompile(`^\s*(not\s+)?([^\s=<>!(),]{1,100})((\s*(>=|<=|!=|=|>|<)\s*([^\s=<>!][^=<>!]*))|(\s+(not\s+)?in\s*\([^()]+\)))?\s*$`)

// Infra is what happens to attempts that the infrastructure broke.
type Infra struct {
	Attempts int    `json:"attempts,omitempty" minimum:"0" maximum:"100" doc:"How often. Default: 3."`
	Exit     []int  `json:"exit,omitempty" maxItems:"255" doc:"Exit codes that mean it."`
	Place    string `json:"place,omitempty" enum:"same,other_device,other_pc" doc:"Where the next attempt goes. Default: same."`
}

// runsMost is how many runs one job may want: see weir._fleet_plan.
const runsMost = 100_000

// specMost bounds the text of a spec.
const specMost = 1 << 20

// CheckScheduled refuses a fleet job that every run of a schedule would refuse, and names
// its field.
func CheckScheduled(params json.RawMessage) error {
	_, err := ParseSpec(params)
	if err == nil {
		return nil
	}
	p := *problem.Explain(err)
	p.Field = "task.params." + p.Field
	return &p
}

// ServiceOfSchedules is the service of the task of a schedule that submits fleet jobs.
const ServiceOfSchedules = "fleet"

// OfSchedule returns the job that a schedule of fleet jobs submits. It has the name of
// the schedule if it has none of its own.
func OfSchedule(schedule string, task json.RawMessage) (Spec, error) {
	var of struct {
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(task, &of); err != nil {
		return Spec{}, fmt.Errorf("read the task of schedule %s: %w", schedule, err)
	}
	s, err := ParseSpec(of.Params)
	if err == nil && s.Name == "" {
		s.Name = schedule
	}
	return s, err
}

// ParseSpec reads a fleet job from YAML or JSON. An error names the field and the fix.
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	if len(text) > specMost {
		return s, problem.Refuse("spec", "give data as files, not as params", "the fleet job is over 1 MB")
	}
	var tree any
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&tree); err != nil && !errors.Is(err, io.EOF) {
		return s, problem.Refuse("spec", "check indentation and quotes", "it is neither YAML nor JSON: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	of, ok := tree.(map[string]any)
	if !ok {
		return s, problem.Refuse("spec", "write at least run: and target:", "a fleet job is a mapping of fields")
	}
	if err := documents.Decode(new(any)); !errors.Is(err, io.EOF) {
		return s, problem.Refuse("spec", "put each into a file of its own", "there is more than one document in it, after a line ---")
	}
	// The fields are read one by one, so that an error has the name of its field.
	for _, field := range slices.Sorted(maps.Keys(of)) {
		plain, err := json.Marshal(map[string]any{field: of[field]})
		if err != nil {
			return s, problem.Refuse(field, "use text as keys", "%s cannot be written as JSON: %v", field, err)
		}
		decoder := json.NewDecoder(bytes.NewReader(plain))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			return s, decodeFault(field, err)
		}
	}
	return s, s.Check()
}

// LaneDefault is the lane of jobs that name none.
const LaneDefault = "default"

var laneName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// decodeFault says in plain words what is wrong with a field.
func decodeFault(field string, err error) error {
	if found := unknownField.FindStringSubmatch(err.Error()); found != nil {
		whose, names, path := "a fleet job", fields, found[1]
		if slices.Contains(fields, field) {
			whose, names, path = field, within(field), field+"."+found[1]
		}
		next := "fields of " + whose + " are " + strings.Join(names, ", ") + "; see docs/fleets.md"
		if meant := spelling.Closest(found[1], names); meant != "" {
			next = "did you mean " + meant + "?"
		}
		return problem.Refuse(path, next, "%s has no field %s", whose, found[1])
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return problem.Refuse(wrong.Field, "write "+form(wrong.Type.String()), "%s is %s", wrong.Field, wrong.Value)
	}
	return problem.Refuse(field, "write spans as 90s, 20m or 1h30m", "%s", strings.TrimPrefix(err.Error(), "json: "))
}

var fields = fieldsOf(reflect.TypeFor[Spec]())

// within returns the fields of a field.
func within(field string) []string {
	kind := reflect.TypeFor[Spec]()
	for i := range kind.NumField() {
		if nameOf(kind.Field(i)) != field {
			continue
		}
		inner := kind.Field(i).Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			return fieldsOf(inner)
		}
	}
	return nil
}

func fieldsOf(kind reflect.Type) (names []string) {
	for i := range kind.NumField() {
		if name := nameOf(kind.Field(i)); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// nameOf returns the JSON name of a field.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// form names a Go type as a person writes it.
func form(kind string) string {
	switch {
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	case strings.HasPrefix(kind, "map["), strings.HasPrefix(kind, "fleet."), strings.HasPrefix(kind, "node."):
		return "a mapping"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "text"
	}
	return "a whole number"
}

// Check returns which field is invalid, why, and what to write instead.
func (s Spec) Check() error {
	if len(s.Name) > 200 {
		return problem.Refuse("name", "use at most 200 characters", "the name is too long")
	}
	if len(s.Run.Argv) == 0 && s.Run.Image == "" && s.Run.Compose == nil && s.Run.URL == "" {
		return problem.Refuse("run", "for example run: {argv: [adb, -s, '{target}', shell, 'true']}", "it does not say what runs on a device")
	}
	if p := node.CheckArguments("run.argv", s.Run.Argv); p != nil {
		return p
	}
	if err := s.Target.check(); err != nil {
		return err
	}
	if err := s.Infra.check(); err != nil {
		return err
	}
	if err := cmp.Or(s.Setup.Check("setup"), s.Cleanup.Check("cleanup")); err != nil {
		return err
	}
	if s.Lane != "" && !laneName.MatchString(s.Lane) {
		return problem.Refuse("lane", "use at most 63 small letters, digits, dots, dashes and underscores, for example android", "%q is no name of a lane", s.Lane)
	}
	if !slices.Contains([]string{"", JoinPending, JoinRunning}, s.Join) {
		return problem.Refuse("join", "write pending or running", "%q is no way to join", s.Join)
	}
	for _, n := range []struct {
		field         string
		is, low, high int
	}{
		{"any", s.Any, 0, 100_000},
		{"repeat", s.Repeat, 0, 10_000},
		{"attempts", s.Attempts, 0, 100},
		{"priority", s.Priority, -100, 100},
		{"breaker", number(s.Breaker), 0, 100_000},
	} {
		if n.is < n.low || n.is > n.high {
			return problem.Refuse(n.field, fmt.Sprintf("write a number between %d and %d", n.low, n.high), "%s is %d", n.field, n.is)
		}
	}
	if runs := s.Any * max(1, s.Repeat); runs > runsMost {
		return problem.Refuse("repeat", fmt.Sprintf("lower any or repeat: a job has at most %d runs", runsMost), "any and repeat make %d runs", runs)
	}
	for _, d := range []struct {
		field     string
		is        *node.Span
		low, high time.Duration
	}{
		{"timeout", given(s.Timeout), time.Second, 30 * 24 * time.Hour},
		{"backoff", s.Backoff, 0, 24 * time.Hour},
		{"linger", s.Linger, 0, 30 * 24 * time.Hour},
	} {
		if d.is != nil && (time.Duration(*d.is) < d.low || time.Duration(*d.is) > d.high) {
			return problem.Refuse(d.field, fmt.Sprintf("write a span between %s and %s, as 90s, 20m or 1h30m", d.low, d.high), "%s is %s", d.field, time.Duration(*d.is))
		}
	}
	return nil
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func given(s node.Span) *node.Span {
	if s == 0 {
		return nil
	}
	return &s
}

// conditionForm says how a condition is written.
const conditionForm = "write android>=13, model in (a, b), not tag=old; operators are = != >= > <= < in, not in"

func (t Target) check() error {
	if !t.All && len(t.Devices) == 0 && len(t.Labels) == 0 && t.Tag == "" && len(t.Match) == 0 {
		return problem.Refuse("target", "for example target: {all: true}, {devices: [SERIAL]}, {labels: {model: x}}, {tag: x} or {match: [android>=13]}", "it does not say on which devices")
	}
	for _, serial := range t.Devices {
		if err := (node.Device{Serial: serial}).Check(); err != nil {
			return problem.Refuse("target.devices", "see what there is", "%q is no serial", serial).Run("weir device list")
		}
	}
	for _, c := range t.Match {
		if len(c) > 500 || !condition.MatchString(c) {
			return problem.Refuse("target.match", conditionForm, "%.100q is no condition on labels", c)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		if key == "" {
			return problem.Refuse("target.labels", "name the label", "a label has no name")
		}
	}
	return nil
}

func (i *Infra) check() error {
	if i == nil {
		return nil
	}
	if !slices.Contains([]string{"", PlaceSame, PlaceOtherDevice, PlaceOtherPC}, i.Place) {
		return problem.Refuse("infra.place", "write same, other_device or other_pc", "%q is no place for a retry", i.Place)
	}
	if i.Attempts < 0 || i.Attempts > 100 {
		return problem.Refuse("infra.attempts", "write a number between 1 and 100", "infra.attempts is %d", i.Attempts)
	}
	for _, code := range i.Exit {
		if code < 1 || code > 255 {
			return problem.Refuse("infra.exit", "write codes between 1 and 255", "%d is no exit code of a failure", code)
		}
	}
	return nil
}

// YAML returns the spec as a person writes it into a file, with the name first.
func (s Spec) YAML() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil { // JSON is YAML, and its whole numbers stay whole
		return nil, err
	}
	var out []byte
	for _, field := range fields {
		if value, has := tree[field]; has {
			line, err := yaml.Marshal(map[string]any{field: value})
			if err != nil {
				return nil, err
			}
			out = append(out, line...)
		}
	}
	return out, nil
}

// stored returns the spec as the database takes it, without what the database stores
// separately.
func (s Spec) stored() (json.RawMessage, error) {
	s.Name = ""
	return json.Marshal(s)
}
