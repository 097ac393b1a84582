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

// shelfMost is how many parsed definitions are kept.
const shelfMost = 1000

// book is a version of a workflow, parsed.
type book struct {
	id      weir.ID
	name    string
	version int
	*definition.Definition
}

// shelf caches parsed definitions. A version never changes, so an entry by id is right
// forever; the newest version may be out of date, and weir.workflow_run detects that.
type shelf struct {
	mu     sync.Mutex
	byID   map[weir.ID]*book
	newest map[string]*book
}

func newShelf() *shelf { return &shelf{byID: map[weir.ID]*book{}, newest: map[string]*book{}} }

func (s *shelf) get(id weir.ID) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *shelf) getNewest(name string) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest[name]
}

func (s *shelf) put(b *book, newest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= shelfMost || len(s.newest) >= shelfMost {
		s.byID, s.newest = map[weir.ID]*book{}, map[string]*book{}
	}
	s.byID[b.id] = b
	if newest {
		s.newest[b.name] = b
	}
}

// forget makes the next run look up the newest version.
func (s *shelf) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.newest, name)
}

// find returns a version of a workflow; 0 means the newest active one that is known.
func (s *Store) find(ctx context.Context, name string, version int) (*book, error) {
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
func (s *Store) load(ctx context.Context, id weir.ID) (*book, error) {
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
func (s *Store) read(w Workflow, newest bool) (*book, error) {
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
	b := &book{id: w.ID, name: w.Name, version: w.Version, Definition: d}
	s.known.put(b, newest)
	return b, nil
}
