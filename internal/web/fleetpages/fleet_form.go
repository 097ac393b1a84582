package fleetpages

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// The targets that the form of a fleet job offers.
const (
	targetAll  = "all"
	targetSome = "some"
)

// fleetForm is a fleet job as people fill it in. What they typed comes back as it was,
// right or wrong; an empty field is as the store has it.
type fleetForm struct {
	name, command, params                    string
	setup, cleanup                           string
	target, devices, tag, labels, match      string
	each, repeat, attempts, timeout, backoff string
	infraAttempts, infraExit, place          string
	join, breaker, linger, priority, lane    string
	// key makes one job of a form that is sent twice.
	key string
	// seen is the hash of the job that the reader has looked at.
	seen string
	// faults are what is wrong, by field.
	faults map[string]string
}

func newFleetForm() *fleetForm {
	return &fleetForm{target: targetSome, place: fleet.PlaceSame, join: fleet.JoinPending, key: rand.Text(), faults: map[string]string{}}
}

func readFleetForm(r *site.Request) *fleetForm {
	f := &fleetForm{
		name: r.Field("name"), command: r.Field("run"), params: r.Field("params"), setup: r.Field("setup"), cleanup: r.Field("cleanup"),
		target: cmp.Or(r.Field("target"), targetSome), devices: r.Field("target.devices"), tag: r.Field("target.tag"), labels: r.Field("target.labels"), match: r.Field("target.match"),
		each: r.Field("any"), repeat: r.Field("repeat"), attempts: r.Field("attempts"), timeout: r.Field("timeout"), backoff: r.Field("backoff"),
		infraAttempts: r.Field("infra.attempts"), infraExit: r.Field("infra.exit"), place: cmp.Or(r.Field("infra.place"), fleet.PlaceSame),
		join: cmp.Or(r.Field("join"), fleet.JoinPending), breaker: r.Field("breaker"), linger: r.Field("linger"), priority: r.Field("priority"), lane: strings.TrimSpace(r.Field("lane")),
		key: r.Field("key"), seen: r.Field("seen"), faults: map[string]string{},
	}
	if f.key == "" || len(f.key) > site.KeyMost {
		f.key = rand.Text()
	}
	return f
}

// fleetFields are the fields of the form, as the store names them.
var fleetFields = []string{
	"name", "run", "setup", "cleanup", "params", "target", "target.devices", "target.tag", "target.labels", "target.match", "any", "repeat", "attempts", "timeout", "backoff",
	"infra.attempts", "infra.exit", "infra.place", "join", "breaker", "linger", "priority", "lane",
}

// blame puts a fault at a field, the first one that is found.
func (f *fleetForm) blame(field, what string) {
	if f.faults[field] == "" {
		f.faults[field] = what
	}
}

// spec is what the form asks for. What is the rule anyway is not said. Check the faults
// afterwards.
func (f *fleetForm) spec(r *site.Request) fleet.Spec {
	ctx := r.Context()
	s := fleet.Spec{Name: f.name}
	if f.name == "" {
		f.blame("name", ui.Say(ctx, "new.fault.name"))
	}
	var err error
	if s.Run.Argv, err = node.SplitCommand(f.command); err != nil {
		f.blame("run", ui.Say(ctx, "newfleet.fault.quote"))
	} else if len(s.Run.Argv) == 0 {
		f.blame("run", ui.Say(ctx, "newfleet.fault.command"))
	}
	s.Setup, s.Cleanup = f.aside(r, "setup", f.setup), f.aside(r, "cleanup", f.cleanup)
	if f.params != "" && json.Unmarshal([]byte(f.params), &s.Params) != nil {
		f.blame("params", ui.Say(ctx, "newfleet.fault.params"))
	}
	f.specTarget(r, &s.Target)
	for _, n := range []struct {
		field, text string
		to          *int
		low         int
	}{{"any", f.each, &s.Any, 1}, {"repeat", f.repeat, &s.Repeat, 1}, {"attempts", f.attempts, &s.Attempts, 1}, {"priority", f.priority, &s.Priority, -100}} {
		if given := f.number(r, n.field, n.text, n.low); given != nil {
			*n.to = *given
		}
	}
	s.Breaker = f.number(r, "breaker", f.breaker, 0)
	if span := f.span(r, "timeout", f.timeout); span != nil {
		s.Timeout = *span
		if *span == 0 {
			f.blame("timeout", ui.Say(ctx, "newfleet.fault.span", "0"))
		}
	}
	s.Backoff, s.Linger = f.span(r, "backoff", f.backoff), f.span(r, "linger", f.linger)
	f.specInfra(r, &s)
	s.Lane = f.lane
	if f.join != fleet.JoinPending {
		s.Join = f.join
	}
	return s
}

// aside reads a command before or after each run; empty: nil.
func (f *fleetForm) aside(r *site.Request, field, line string) *node.Command {
	argv, err := node.SplitCommand(line)
	if err != nil {
		f.blame(field, ui.Say(r.Context(), "newfleet.fault.quote"))
	}
	if len(argv) == 0 {
		return nil
	}
	return &node.Command{Argv: argv}
}

// specTarget reads on which devices. All of the fleet is said, never left out.
func (f *fleetForm) specTarget(r *site.Request, t *fleet.Target) {
	ctx := r.Context()
	t.Devices = strings.FieldsFunc(f.devices, between)
	t.Tag = f.tag
	// Conditions have spaces and commas of their own.
	for condition := range strings.SplitSeq(f.match, ";") {
		if condition = strings.TrimSpace(condition); condition != "" {
			t.Match = append(t.Match, condition)
		}
	}
	for _, pair := range strings.FieldsFunc(f.labels, between) {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			f.blame("target.labels", ui.Say(ctx, "newfleet.fault.label", ui.Cut(ui.Line(pair), 40)))
			continue
		}
		if t.Labels == nil {
			t.Labels = map[string]string{}
		}
		t.Labels[key] = value
	}
	some := len(t.Devices) > 0 || t.Tag != "" || len(t.Labels)+len(t.Match) > 0
	switch {
	case f.target == targetAll && some:
		f.blame("target", ui.Say(ctx, "newfleet.fault.all"))
	case f.target == targetAll:
		t.All = true
	case !some && f.faults["target.labels"] == "":
		f.blame("target", ui.Say(ctx, "newfleet.fault.some"))
	}
}

// specInfra reads what happens to attempts that the infrastructure broke.
func (f *fleetForm) specInfra(r *site.Request, s *fleet.Spec) {
	var infra fleet.Infra
	if n := f.number(r, "infra.attempts", f.infraAttempts, 1); n != nil {
		infra.Attempts = *n
	}
	for _, text := range strings.FieldsFunc(f.infraExit, between) {
		code, err := strconv.Atoi(text)
		if err != nil {
			f.blame("infra.exit", ui.Say(r.Context(), "new.fault.number", ui.Cut(ui.Line(text), 40)))
			continue
		}
		infra.Exit = append(infra.Exit, code)
	}
	if f.place != fleet.PlaceSame {
		infra.Place = f.place
	}
	if infra.Attempts != 0 || infra.Exit != nil || infra.Place != "" {
		s.Infra = &infra
	}
}

// between separates the words of a list.
func between(c rune) bool { return c == ',' || unicode.IsSpace(c) }

// number reads a field that is a whole number, no less than low; empty: nil. The store
// knows how large it may be.
func (f *fleetForm) number(r *site.Request, field, text string, low int) *int {
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		f.blame(field, ui.Say(r.Context(), "new.fault.number", ui.Cut(ui.Line(text), 40)))
		return nil
	case n < low:
		f.blame(field, ui.Say(r.Context(), "newfleet.fault.low", low))
		return nil
	}
	return &n
}

// span reads a field that is a length of time; empty: nil.
func (f *fleetForm) span(r *site.Request, field, text string) *node.Span {
	if text == "" {
		return nil
	}
	d, err := period.Parse(text)
	if err != nil {
		f.blame(field, ui.Say(r.Context(), "newfleet.fault.span", ui.Cut(ui.Line(text), 40)))
		return nil
	}
	span := node.Span(d)
	return &span
}
