package view

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/weirhq/weir"
)

const (
	// suffixLeast is how much of an id's end must be given.
	suffixLeast = 6
	// suffixWithin is among how many of the newest an end is looked for.
	suffixWithin = 100_000
)

var suffixForm = regexp.MustCompile(`^[0-9a-f-]+$`)

// TaskID reads the id of a task, whole or its end. The beginning of an id is
// the time, which many share; its end is random.
func (s *Store) TaskID(ctx context.Context, text string) (weir.ID, error) {
	return s.resolve(ctx, "task", "weir.tasks", text)
}

// JobID reads the id of a job, whole or its end.
func (s *Store) JobID(ctx context.Context, text string) (weir.ID, error) {
	return s.resolve(ctx, "job", "weir.jobs", text)
}

func (s *Store) resolve(ctx context.Context, what, table, text string) (weir.ID, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if id, err := weir.ParseID(text); err == nil {
		return id, nil
	}
	if !suffixForm.MatchString(text) || len(text) < suffixLeast || len(text) > 36 {
		return weir.ID{}, fmt.Errorf("%w: %q is not the id of a %s: give the whole id, or at least its last %d characters", weir.ErrInvalid, text, what, suffixLeast)
	}
	ids, err := list(ctx, s, "find "+what, `select id from (select id from `+table+` order by id desc limit $2) x where right(id::text, length($1)) = $1 limit 2`,
		[]any{text, suffixWithin}, func(id *weir.ID) []any { return []any{id} })
	switch {
	case err != nil:
		return weir.ID{}, err
	case len(ids) == 0:
		return weir.ID{}, fmt.Errorf("%w: there is no %s whose id ends in %s among the newest %d", weir.ErrNotFound, what, text, suffixWithin)
	case len(ids) > 1:
		return weir.ID{}, fmt.Errorf("%w: several ids end in %s, such as %s and %s: give more of it", weir.ErrInvalid, text, ids[0], ids[1])
	}
	return ids[0], nil
}
