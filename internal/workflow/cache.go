package workflow

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// cacheMost is how many parsed definitions are kept.
const cacheMost = 1000

// parsed is a version of a workflow, parsed.
type parsed struct {
	id      weir.ID
	name    string
	version int
	*definition.Definition
}

// shelf caches parsed definitions. A version never changes, so an entry by id is right
// forever; the newest version may be out of date, and weir.workflow_run detects that.
type cache struct {
	mu     sync.Mutex
	byID   map[weir.ID]*parsed
	newest map[string]*parsed
}

func newCache() *cache { return &cache{byID: map[weir.ID]*parsed{}, newest: map[string]*parsed{}} }

func (s *cache) get(id weir.ID) *parsed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *cache) getNewest(name string) *parsed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest[name]
}

func (s *cache) put(b *parsed, newest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= cacheMost || len(s.newest) >= cacheMost {
		s.byID, s.newest = map[weir.ID]*parsed{}, map[string]*parsed{}
	}
	s.byID[b.id] = b
	if newest {
		s.newest[b.name] = b
	}
}

// forget makes the next run look up the newest version.
func (s *cache) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.newest, name)
}

// find returns a version of a workflow; 0 means the newest active one that is known.
func (s *Store) find(ctx context.Context, name string, version int) (*parsed, error) {
	if version == 0 {
		if b := s.known.getNewest(name); b != nil {
			return b, nil
		}
	}
	w, err := s.Workflow(ctx, name, version)
	if err != nil {
		return nil, err
	}
	if !w.Active {
		return nil, problem.New(problem.Conflict, "activate it, or run another version", "version %d of workflow %q is not active", version, name)
	}
	return s.read(w, version == 0)
}

// load returns the definition of a job.
func (s *Store) load(ctx context.Context, id weir.ID) (*parsed, error) {
	if b := s.known.get(id); b != nil {
		return b, nil
	}
	w, err := s.Of(ctx, id)
	if p := (*problem.Problem)(nil); errors.As(err, &p) && p.Kind == problem.NotFound {
		return nil, problem.New(problem.NotFound, "put it again and run it", "the definition %s of the job is gone", id)
	}
	if err != nil {
		return nil, err
	}
	return s.read(w, false)
}

// read parses a stored definition. It checks the definition as if it were new, because it
// may have been written by plain SQL.
func (s *Store) read(w Workflow, newest bool) (*parsed, error) {
	d, err := definition.ParseJSON(w.Definition)
	if err == nil {
		d.Name, d.Version = w.Name, w.Version
		err = d.Lint().Err()
	}
	if err != nil {
		return nil, &problem.Problem{
			Kind: problem.Invalid, What: fmt.Sprintf("version %d of workflow %q is wrong: %v", w.Version, w.Name, err),
			Next: "put a right one", Err: err,
		}
	}
	b := &parsed{id: w.ID, name: w.Name, version: w.Version, Definition: d}
	s.known.put(b, newest)
	return b, nil
}
