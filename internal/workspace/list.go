package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Filter chooses workspaces. The zero value is all that nobody has deleted.
type Filter struct {
	// Owner is whose they are. Zero: anybody's.
	Owner weir.ID
	Phase ladder.Phase
	// Provider is what runs them.
	Provider string
	// Search is part of the name, the description or the owner's name.
	Search string
	// Failed are those in error.
	Failed bool
	// Deleted are there, too.
	Deleted bool
}

// orNull is null for the zero id.
func orNull(id weir.ID) *weir.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}

// List reads a page of workspaces, newest first.
func (s *Store) List(ctx context.Context, f Filter, p view.Page) ([]Workspace, error) {
	var after weir.ID
	if p.After != "" {
		var err error
		if after, err = weir.ParseID(p.After); err != nil {
			return nil, problem.Refuse("after", "give the id of the last one of the page before", "%q is no id", p.After)
		}
	}
	return s.list(ctx, f, after, p.Most())
}

// Count counts those that a filter chooses, by phase.
func (s *Store) Count(ctx context.Context, f Filter) (map[ladder.Phase]int, error) {
	words, err := s.count(ctx, "w.phase", f)
	counts := map[ladder.Phase]int{}
	for word, n := range words {
		counts[ladder.Phase(word)] = n
	}
	return counts, err
}

// Figures are for a dashboard of numbers.
type Figures struct {
	ByPhase     map[string]int `json:"by_phase"`
	ByOperation map[string]int `json:"by_operation"`
	// ByReason counts what stands against workspaces.
	ByReason map[string]int `json:"by_reason"`
	// Unseen are the providers that could not be seen at the last look, or bucket.
	Unseen []string `json:"unseen"`
}

// Figures counts all that nobody has deleted.
func (s *Store) Figures(ctx context.Context) (f Figures, err error) {
	for column, into := range map[string]*map[string]int{"w.phase": &f.ByPhase, "w.operation": &f.ByOperation, "coalesce(w.error_reason, '')": &f.ByReason} {
		if *into, err = s.count(ctx, column, Filter{}); err != nil {
			return f, err
		}
	}
	delete(f.ByReason, "")
	p, err := s.Policy(ctx)
	f.Unseen = p.UnknownOf
	return f, err
}

// Workspace reads one, also one that is deleted.
func (s *Store) Workspace(ctx context.Context, id weir.ID) (Workspace, error) {
	found, err := s.workspaces(ctx, byID, id)
	if err != nil {
		return Workspace{}, err
	}
	if len(found) == 0 {
		return Workspace{}, notFound(id.String())
	}
	return found[0], nil
}

func notFound(what string) error {
	return problem.New(problem.NotFound, "see what there is", "there is no workspace %s", what).Run("weir workspace list")
}

// Find reads one by what a person calls it: its id, its name, or the owner's name and
// its name with a slash between. A name alone is looked for among those of an owner;
// empty: among all, as long as only one has it.
func (s *Store) Find(ctx context.Context, owner, text string) (Workspace, error) {
	if id, err := weir.ParseID(text); err == nil {
		return s.Workspace(ctx, id)
	}
	name := text
	if whose, rest, both := strings.Cut(text, "/"); both {
		owner, name = whose, rest
	}
	found, err := s.workspaces(ctx, byName, name, owner)
	switch {
	case err != nil:
		return Workspace{}, err
	case len(found) == 0:
		return Workspace{}, notFound(text)
	case len(found) > 1:
		return Workspace{}, problem.New(problem.Conflict, fmt.Sprintf("say whose: %s/%s or %s/%s", found[0].Owner, name, found[1].Owner, name), "more than one workspace is called %s", name)
	}
	return found[0], nil
}
