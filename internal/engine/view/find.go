package view

import (
	"context"
	"regexp"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// Called is something that people know by a name that others may have, too.
type Called struct {
	ID    weir.ID
	Name  string
	Ended bool
}

var idForm = regexp.MustCompile(`^[0-9a-fA-F-]{6,36}$`)

// Find reads which of the jobs of a kind is meant: by its id or the end of it, or by its name, if
// one alone that has not ended, or the newest of those that have, is called so. search lists those
// with the text in their name, newest first; field is where a client wrote it, see the command that
// lists them.
func Find(ctx context.Context, s *Store, kind, field, see, text string, search func() ([]Called, error)) (weir.ID, error) {
	if idForm.MatchString(text) {
		id, err := s.resolve(ctx, kind, jobEnds, text)
		if err == nil || problem.Explain(err).Kind != problem.NotFound {
			return id, Blamed(field, err)
		}
	}
	found, err := search()
	if err != nil {
		return weir.ID{}, err
	}
	var live, ended []weir.ID
	for _, c := range found {
		switch {
		case c.Name != text:
		case c.Ended:
			ended = append(ended, c.ID)
		default:
			live = append(live, c.ID)
		}
	}
	switch {
	case len(live) > 1:
		return weir.ID{}, problem.Refuse(field, "give the id of one", "%d %ss are called %q, such as %s and %s", len(live), kind, text, live[0], live[1])
	case len(live) == 1:
		return live[0], nil
	case len(ended) > 0:
		return ended[0], nil
	}
	return weir.ID{}, problem.New(problem.NotFound, "see them with: "+see, "there is no %s %q", kind, text)
}

// Blamed says which field an id that is none was in.
func Blamed(field string, err error) error {
	if err == nil {
		return nil
	}
	p := *problem.Explain(err)
	if p.Kind == problem.Invalid {
		p.Field = field
	}
	return &p
}
