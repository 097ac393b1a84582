package fleet

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// Which part of a job is run again.
const (
	// RerunRest is everything that was not done: failed, missed and canceled.
	RerunRest   = "rest"
	RerunFailed = "failed"
	RerunMissed = "missed"
	// RerunAll is the same job once more, on its present target.
	RerunAll = "all"
)

// Reruns are all of them.
var Reruns = []string{RerunRest, RerunFailed, RerunMissed, RerunAll}

// Again returns the job that repeats runs of another one: the same spec, on the devices
// whose runs ended in the given way, in a snapshot of its own. If any device could serve
// the job, it asks for as many runs as ended in that way, on any device of the same
// target.
func (s *Store) Again(ctx context.Context, id weir.ID, which string) (Spec, error) {
	j, err := s.Job(ctx, id)
	if err != nil {
		return Spec{}, err
	}
	spec := *j.Spec
	var states []string
	switch which {
	case RerunAll:
		return spec, nil
	case "", RerunRest:
		states = []string{UnitFailed, UnitMissed, UnitCanceled}
	case RerunFailed, RerunMissed:
		states = []string{which}
	default:
		return spec, problem.Refuse("which", "write rest, failed, missed or all", "%q is no part of a fleet job", which)
	}
	if j.EndedAt == nil {
		return spec, problem.New(problem.Conflict, "wait until it has ended, cancel it, or run all of it again", "fleet job %s is %s: what becomes of its runs is not known yet", j.Name, j.State)
	}
	var devices []string
	runs := 0
	for _, state := range states {
		units, err := s.allUnits(ctx, id, state)
		if err != nil {
			return spec, err
		}
		for _, u := range units {
			runs++
			devices = append(devices, u.Device)
		}
	}
	switch {
	case runs == 0:
		return spec, problem.New(problem.Conflict, "run all of it again, or look at it", "fleet job %s has no run that is %s", j.Name, orList(states)).Run("weir fleet show " + id.String())
	case spec.Any > 0:
		spec.Any, spec.Repeat = runs, 0
	default:
		slices.Sort(devices)
		spec.Target = Target{Devices: slices.Compact(devices)}
	}
	return spec, nil
}

func (s *Store) allUnits(ctx context.Context, id weir.ID, state string) (all []Unit, err error) {
	for page := (view.Page{Limit: 1000}); ; page.After = strconv.Itoa(all[len(all)-1].Unit) {
		part, err := s.Units(ctx, id, UnitFilter{State: state}, page)
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(part) < page.Limit {
			return all, nil
		}
	}
}

// orList joins words as a person does: a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
