package workpages

import (
	"context"
	"sync"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// edition is the version of a workflow that a job is a run of.
type edition struct {
	name    string
	version int
	// steps is nil if the definition cannot be read.
	steps *definition.Definition
}

// known says that the job is a run of a workflow.
func (f edition) known() bool { return f.name != "" }

// approval says that the step of a key waits for a person by its definition.
func (f edition) approval(key string) bool {
	if f.steps == nil {
		return false
	}
	s := f.steps.Step(key)
	return s != nil && s.Approval != nil
}

// flowsMost is how many versions are remembered. They never change.
const flowsMost = 200

// shelf remembers versions of workflows by their id.
type shelf struct {
	mu    sync.Mutex
	known map[weir.ID]edition
}

func (s *shelf) get(id weir.ID) (edition, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.known[id]
	return f, ok
}

func (s *shelf) put(id weir.ID, f edition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= flowsMost {
		s.known = map[weir.ID]edition{}
	}
	s.known[id] = f
}

// flowOf is what a job is a run of. Of a plain job, and of one whose definition
// is gone, it is nothing.
func (w *pages) flowOf(ctx context.Context, job view.Job) (edition, error) {
	if job.Definition.IsZero() || w.Workflows == nil {
		return edition{}, nil
	}
	if f, ok := w.shelf.get(job.Definition); ok {
		return f, nil
	}
	found, err := w.Workflows.Of(ctx, job.Definition)
	if err != nil {
		if problem.Explain(err).Kind == problem.NotFound {
			return edition{}, nil
		}
		return edition{}, err
	}
	f := edition{name: found.Name, version: found.Version}
	// One that a newer Weir wrote is a name and a number.
	if d, err := definition.ParseJSON(found.Definition); err == nil {
		f.steps = d
	}
	w.shelf.put(job.Definition, f)
	return f, nil
}
