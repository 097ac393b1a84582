package workcmd

import (
	"context"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/work"
)

const (
	// childrenMost is how many jobs of steps are drawn with their tasks.
	childrenMost = 12
	// levelsMost is how deep jobs of steps of jobs are drawn.
	levelsMost = 4
)

// nest reads the jobs that steps stand for, and the tasks of those that go on.
// Budget is how many jobs may still be read; those of maps that share a line are
// not.
func (p *jobPage) nest(ctx context.Context, s *app.Session, levels int, budget *int) error {
	maps, steps := itemsOf(p.Tasks), map[weir.ID]bool{}
	for _, t := range p.Tasks {
		m := maps[stem(t.Key)]
		if t.Plan != nil && (m == nil || t.Key != stem(t.Key) && !m.folded()) {
			steps[t.ID] = true
		}
	}
	if len(steps) == 0 || levels == 0 {
		return nil
	}
	jobs, err := listJobs(ctx, s, work.JobFilter{Of: p.ID.String()}, view.Page{Limit: 1000})
	if err != nil {
		return err
	}
	p.children = map[weir.ID]*jobPage{}
	for _, j := range jobs { // the newest first: one for each attempt
		if !steps[j.Parent] || p.children[j.Parent] != nil {
			continue
		}
		child := &jobPage{Job: j}
		p.children[j.Parent] = child
		if j.Ended() || j.State == "queued" || *budget == 0 {
			continue
		}
		*budget--
		if *child, err = readJob(ctx, s, j.ID); err != nil {
			return err
		}
		if err := child.nest(ctx, s, levels-1, budget); err != nil {
			return err
		}
	}
	return nil
}
