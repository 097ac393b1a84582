package app

import (
	"context"
	"fmt"

	"github.com/weirhq/weir"
)

// PauseSchedule stops a schedule, or lets it go on with its next time from now.
func (s *Session) PauseSchedule(ctx context.Context, name string, paused bool) error {
	was, err := s.Store.Schedule(ctx, name)
	if err != nil {
		return err
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	next, err := weir.Schedule{Spec: was.Spec, Zone: was.Zone}.Next(now)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", name, err)
	}
	if _, err = s.pool.Exec(ctx, `select weir.set_schedule(s.name, s.spec, s.task, $2, s.zone, s.missed, $3) from weir.schedules s where s.name = $1`, name, next, paused); err != nil {
		return fmt.Errorf("pause schedule: %w", err)
	}
	return nil
}
