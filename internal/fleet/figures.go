package fleet

import (
	"context"
	"fmt"
	"time"
)

// Figures are the numbers of the fleet for monitoring.
type Figures struct {
	Sum
	// ByHealth counts devices by health, and within a health by presence.
	ByHealth map[string]map[string]int
	// ByState counts PCs by state.
	ByState map[string]int
	// Jobs counts jobs that have not ended, by state.
	Jobs map[string]int
	// Units are those of the active jobs, and Since is when the first of them became
	// active. They are zero if no job is active.
	Units Counts
	Since time.Time
}

// Figures counts the fleet: its devices, its PCs, and the jobs that have not ended.
func (s *Store) Figures(ctx context.Context) (f Figures, err error) {
	if f.Sum, err = s.Sum(ctx); err != nil {
		return f, err
	}
	if f.ByHealth, err = s.byHealth(ctx); err != nil {
		return f, fmt.Errorf("count devices: %w", err)
	}
	if f.ByState, err = s.tally(ctx, pcsByState); err != nil {
		return f, fmt.Errorf("count PCs: %w", err)
	}
	if f.Jobs, err = s.tally(ctx, jobsByState); err != nil {
		return f, fmt.Errorf("count fleet jobs: %w", err)
	}
	active, err := s.Active(ctx)
	if err != nil {
		return f, fmt.Errorf("read the active fleet job: %w", err)
	}
	for _, j := range active {
		f.Units.add(j.Counts)
		if j.ActivatedAt != nil && (f.Since.IsZero() || j.ActivatedAt.Before(f.Since)) {
			f.Since = *j.ActivatedAt
		}
	}
	return f, nil
}
