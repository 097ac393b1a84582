package view

import "context"

// SchedulesOf lists the schedules that run one of the workflows, at most 1,000,
// by workflow and name.
func (s *Store) SchedulesOf(ctx context.Context, workflows []string) ([]Schedule, error) {
	return list(ctx, s, "list the schedules of workflows", `select `+scheduleColumns+` from weir.schedules s where s.workflow = any ($1) order by s.workflow, s.name limit 1000`,
		[]any{workflows}, scheduleInto)
}
