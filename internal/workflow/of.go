package workflow

import (
	"context"

	"github.com/weirhq/weir"
)

// Of reads the version of a workflow that a job is a run of, by the job's
// definition.
func (s *Store) Of(ctx context.Context, definition weir.ID) (Workflow, error) {
	return s.byID(ctx, definition)
}
