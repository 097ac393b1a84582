package view

import (
	"context"
	"fmt"
	"slices"

	"github.com/weirhq/weir"
)

// Tasks lists tasks, newest first; those of one job in its order. It looks until
// the page is full or there is no more, however long that takes.
func (s *Store) Tasks(ctx context.Context, f TaskFilter, page Page) ([]Task, error) {
	return full(page, func(p Page) ([]Task, string, error) { return s.TaskPage(ctx, f, p) })
}

// full asks for pages until one is full.
func full[T any](page Page, read func(Page) ([]T, string, error)) ([]T, error) {
	all := []T{}
	for want := page.Most(); ; {
		rows, next, err := read(Page{Limit: want - len(all), After: page.After})
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if page.After = next; next == "" || len(all) == want {
			return all, nil
		}
	}
}

// TaskPage lists tasks as [Store.Tasks] does, in a bounded time. next is where
// the page after begins, empty when this is the last. A filter that no index
// answers looks at so many tasks at a time: its page may be short, or even empty,
// and yet not be the last. The tables of tasks have no index but the engine's,
// because every index is paid for by every task.
func (s *Store) TaskPage(ctx context.Context, f TaskFilter, page Page) (tasks []Task, next string, err error) {
	const op = "list tasks"
	ids, next, err := s.taskIDs(ctx, op, f, page)
	if err != nil || len(ids) == 0 {
		return []Task{}, next, err
	}
	tasks, err = s.listed(ctx, op, ids)
	return tasks, next, err
}

// taskIDs is a page of the ids of tasks.
func (s *Store) taskIDs(ctx context.Context, op string, f TaskFilter, page Page) (ids []weir.ID, next string, err error) {
	if err := f.check(); err != nil {
		return nil, "", err
	}
	known, ok, err := s.known(ctx, op, f)
	if err != nil || !ok {
		return nil, "", err
	}
	switch {
	case !f.Job.IsZero():
		ids, next, err = s.jobTasks(ctx, op, known, page)
	case f.State == weir.Available && f.Key == "":
		ids, next, err = s.availableTasks(ctx, op, known, page)
	default:
		var w *walk
		if w, err = s.taskWalk(ctx, op, known); err == nil {
			ids, next, err = w.ids(ctx, s, op, page)
		}
	}
	return ids, next, err
}

// taskWalk chooses the table to walk: that of the state, so that a few running
// tasks are found at once among millions that have ended.
func (s *Store) taskWalk(ctx context.Context, op string, f known) (*walk, error) {
	narrow := f.classes != nil || f.Pool != "" || f.Lane != "" || f.Key != ""
	w := &walk{id: "s.task"}
	asked := w.look
	switch {
	case f.State == weir.Pending:
		w.from, asked = "weir.pending", w.hold // it has what was asked, but for the key
		if f.Gate != "" {
			w.hold(atGate(f.Gate), nil)
		}
		if err := s.waitingFor(ctx, op, f.TaskFilter, w); err != nil {
			return nil, err
		}
	case f.State == weir.Available:
		w.from, w.id, asked = "weir.tasks", "s.id", w.hold
		w.hold(isAvailable, nil)
	case f.State == weir.Running:
		w.from = "weir.running"
		// No index has the worker; what runs is not much.
		if f.worker != 0 {
			w.hold("s.worker = %s", f.worker)
		}
		if f.node != 0 {
			w.hold("s.node = %s", f.node)
		}
	case f.State == weir.Done && !narrow:
		w.from = "weir.finished"
		w.hold("s.outcome = 'done'", nil)
	case f.State == weir.Done:
		// Nearly all tasks are done, so the rest is held against them first.
		w.from, w.id, asked = "weir.tasks", "s.id", w.hold
		w.hold("(select f.outcome = 'done' from weir.finished f where f.task = s.id)", nil) // EXISTS might be planned as a join of all
	case f.State != "":
		w.from = "weir.finished"
		w.key("s.outcome = '"+string(f.State)+"'", nil) // one of States; a parameter would not find the index
	default:
		w.from, w.id, asked = "weir.tasks", "s.id", w.hold
	}
	if f.classes != nil {
		asked("s.class = any (%s)", f.classes)
	}
	if f.Pool != "" {
		asked("s.pool = %s", f.Pool)
	}
	if f.Lane != "" {
		asked("s.lane = %s", f.Lane)
	}
	if f.Key != "" {
		if f.State == weir.Pending {
			asked = w.look
		}
		asked("s.key = %s", f.Key)
	}
	w.since(f.Since)
	return w, nil
}

// isAvailable asks of a row of weir.tasks whether it may start.
const isAvailable = "(select true from weir.available x where x.class in (s.class, -s.class) and x.order_seq = s.order_seq and x.position = s.position)"

// waitingFor narrows a walk over pending tasks to those at the gate of one pool or
// lane, if they are few enough to be sorted. Many are soon found by walking.
func (s *Store) waitingFor(ctx context.Context, op string, f TaskFilter, w *walk) error {
	var ids []weir.ID
	ok := false
	var err error
	switch {
	case f.Gate == weir.GatePool && f.Pool != "":
		ids, ok, err = s.fewIDs(ctx, op, `select p.task from weir.pending p where p.gate = 'pool' and p.pool = $1`, f.Pool)
	case slices.Contains(laneGates, f.Gate) && f.Lane != "":
		ids, ok, err = s.fewIDs(ctx, op, `select p.task from weir.pending p where p.gate = 'lane' and p.lane = $1`, f.Lane)
	}
	if ok {
		w.key("s.task = any (%s)", ids)
	}
	return err
}

// jobTasks are those of one job, in its order.
func (s *Store) jobTasks(ctx context.Context, op string, f known, page Page) ([]weir.ID, string, error) {
	var q query
	q.where("s.job = %s", f.Job)
	if page.After != "" {
		after, err := weir.ParseID(page.After)
		if err != nil {
			return nil, "", refuse("after", "%s", err)
		}
		q.where("s.position > (select a.position from weir.tasks a where a.id = %s)", after)
	}
	if f.classes != nil {
		q.where("s.class = any (%s)", f.classes)
	}
	if f.Pool != "" {
		q.where("s.pool = %s", f.Pool)
	}
	if f.Lane != "" {
		q.where("s.lane = %s", f.Lane)
	}
	if f.Key != "" {
		q.where("s.key = %s", f.Key)
	}
	if !f.Since.IsZero() {
		q.where("s.id >= %s", lowest(f.Since))
	}
	switch f.State {
	case "":
	case weir.Pending:
		at := "true"
		if f.Gate != "" {
			at = atGate(f.Gate)
		}
		q.add(condition{format: "(select " + at + " from (select p.* from weir.pending p where p.task = s.id) s)"})
	case weir.Available:
		q.add(condition{format: isAvailable})
	case weir.Running:
		q.add(condition{format: "(select true from weir.running x where x.task = s.id)"})
		if f.worker != 0 {
			q.where("(select x.worker = %s from weir.running x where x.task = s.id)", f.worker)
		}
		if f.node != 0 {
			q.where("(select x.node = %s from weir.running x where x.task = s.id)", f.node)
		}
	default:
		q.where("(select x.outcome = %s::text::weir.state from weir.finished x where x.task = s.id)", f.State)
	}
	limit := page.Most() + 1
	ids, err := list(ctx, s, op, fmt.Sprintf(`select s.id from weir.tasks s%s order by s.position limit %d`, q.text(), limit), q.args, idInto)
	return cut(ids, limit, err)
}

// availableTasks are those that may start, the last to come in the order of
// claims first: that is what the table has an index for.
func (s *Store) availableTasks(ctx context.Context, op string, f known, page Page) ([]weir.ID, string, error) {
	var q query
	from, before := "weir.available", ""
	limit := page.Most() + 1
	if page.After != "" {
		after, err := weir.ParseID(page.After)
		if err != nil {
			return nil, "", refuse("after", "%s", err)
		}
		before = fmt.Sprintf("(a.order_seq, a.position) < (select t.order_seq, t.position from weir.tasks t where t.id = %s)", q.arg(after))
	}
	if !f.Since.IsZero() {
		newer := "a.task >= " + q.arg(lowest(f.Since))
		if before != "" {
			newer = before + " and " + newer
		}
		before = newer
	}
	switch {
	case f.Pool == "" && f.Lane == "":
		from = newestAvailable(&q, f.classes, before, limit)
	default: // each has an index, and who is here holds a place, so they are not many
		if before != "" {
			q.add(condition{format: before})
		}
		if f.classes != nil {
			q.where("abs(a.class) = any (%s)", f.classes)
		}
		if f.Pool != "" {
			q.where("a.pool = %s", f.Pool)
		}
		if f.Lane != "" {
			q.where("a.lane = %s", f.Lane)
		}
	}
	ids, err := list(ctx, s, op, fmt.Sprintf(`select a.task from %s a%s order by a.order_seq desc, a.position desc limit %d`, from, q.text(), limit), q.args, idInto)
	return cut(ids, limit, err)
}

// newestAvailable reads so many of each class from its end and takes the newest.
func newestAvailable(q *query, classes []int32, before string, most int) string {
	of, and := "", ""
	if classes != nil {
		of = fmt.Sprintf(" where c.id = any (%s)", q.arg(classes))
	}
	if before != "" {
		and = " and " + before
	}
	return fmt.Sprintf(`(select a.* from (select v.class, v.floor from weir.classes c, lateral (values (c.id, c.floor), (-c.id, 0)) v (class, floor)%s) k,
		lateral (select * from weir.available a where a.class = k.class and a.order_seq >= k.floor%s order by a.order_seq desc, a.position desc limit %d) a
		order by a.order_seq desc, a.position desc limit %d)`, of, and, most, most)
}

// cut takes the row off that only tells of another page.
func cut(ids []weir.ID, limit int, err error) ([]weir.ID, string, error) {
	if err != nil || len(ids) < limit {
		return ids, "", err
	}
	return ids[:limit-1], ids[limit-2].String(), nil
}
