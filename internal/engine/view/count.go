package view

import (
	"context"

	"github.com/weirhq/weir"
)

// CountMost is beyond what nothing is counted.
const CountMost = 10_000

// looksMost bounds how many pages a full count looks at where no index answers;
// one that counts less looks at less.
const looksMost = 40

// CountTasks counts the tasks of a filter up to most, which is at most
// [CountMost], in a bounded time. More says that there may be more.
func (s *Store) CountTasks(ctx context.Context, f TaskFilter, most int) (n int, more bool, err error) {
	return count(most, func(p Page) ([]weir.ID, string, error) { return s.taskIDs(ctx, "count tasks", f, p) })
}

// CountJobs counts jobs as [Store.CountTasks] counts tasks.
func (s *Store) CountJobs(ctx context.Context, f JobFilter, most int) (n int, more bool, err error) {
	return count(most, func(p Page) ([]weir.ID, string, error) { return s.jobIDs(ctx, "count jobs", f, p) })
}

func count(most int, read func(Page) ([]weir.ID, string, error)) (n int, more bool, err error) {
	most = min(most, CountMost)
	page := Page{Limit: min(most, 1000)}
	for range max(1, looksMost*most/CountMost) {
		ids, next, err := read(page)
		n += len(ids)
		if err != nil || next == "" || n >= most {
			return n, next != "", err
		}
		page.After = next
	}
	return n, true, nil
}
