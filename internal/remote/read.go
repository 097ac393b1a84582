package remote

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/problem"
)

// page is a part of a list as it is sent.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// mostPage is how many items a list gives at a time, usualPage if nobody says.
const mostPage, usualPage = 1000, 50

// one reads one thing.
func one[T any](ctx context.Context, c *Client, query url.Values, path ...string) (out T, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: path, query: query}, &out)
	return out, err
}

// list reads a page of a list. The server may give it in several parts.
func list[T any](ctx context.Context, c *Client, query url.Values, p view.Page, path ...string) ([]T, error) {
	limit := min(p.Limit, mostPage)
	if limit <= 0 {
		limit = usualPage
	}
	items := []T{}
	for after := p.After; ; {
		query.Set("limit", strconv.Itoa(limit-len(items)))
		if after != "" {
			query.Set("after", after)
		}
		got, err := one[page[T]](ctx, c, query, path...)
		if err != nil {
			return nil, err
		}
		items = append(items, got.Items...)
		if after = got.Next; after == "" || len(items) >= limit {
			return items, nil
		}
	}
}

// whole reads a list that has no pages.
func whole[T any](ctx context.Context, c *Client, query url.Values, path ...string) ([]T, error) {
	got, err := one[page[T]](ctx, c, query, path...)
	return got.Items, err
}

// values are the parameters that are set.
func values(pairs ...string) url.Values {
	query := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		if name, value := pair[0], pair[1]; value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// id is empty for none.
func id(id weir.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// when is empty for no time.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// Task reads one task.
func (c *Client) Task(ctx context.Context, id weir.ID) (view.Task, error) {
	return one[view.Task](ctx, c, nil, "tasks", id.String())
}

// TaskID reads the id of a task, whole or its end.
func (c *Client) TaskID(ctx context.Context, text string) (weir.ID, error) {
	return c.resolve(ctx, "tasks", text)
}

func (c *Client) resolve(ctx context.Context, kind, text string) (weir.ID, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if id, err := weir.ParseID(text); err == nil {
		return id, nil
	}
	if text == "" || text == "." || text == ".." { // no part of an address
		return weir.ID{}, problem.New(problem.Invalid, "", "%q is not an id: give the whole id, or at least its last 6 characters", text)
	}
	found, err := one[struct {
		ID weir.ID `json:"id"`
	}](ctx, c, nil, kind, text)
	return found.ID, err
}

// Tasks lists tasks, newest first; those of one job in its order.
func (c *Client) Tasks(ctx context.Context, f view.TaskFilter, p view.Page) ([]view.Task, error) {
	query := values("state", f.State, "service", f.Service, "gate", f.Gate, "pool", f.Pool, "lane", f.Lane, "key", f.Key, "worker", f.Worker, "node", f.Node, "job", id(f.Job), "since", when(f.Since))
	return list[view.Task](ctx, c, query, p, "tasks")
}

// TaskEvents is the life of one task, oldest first.
func (c *Client) TaskEvents(ctx context.Context, task weir.ID) ([]view.Event, error) {
	return whole[view.Event](ctx, c, nil, "tasks", task.String(), "events")
}

// Attempts lists the attempts at a task, oldest first.
func (c *Client) Attempts(ctx context.Context, task weir.ID) ([]view.Attempt, error) {
	return whole[view.Attempt](ctx, c, nil, "tasks", task.String(), "attempts")
}

// Job reads one job.
func (c *Client) Job(ctx context.Context, id weir.ID) (view.Job, error) {
	return one[view.Job](ctx, c, nil, "jobs", id.String())
}

// JobID reads the id of a job, whole or its end.
func (c *Client) JobID(ctx context.Context, text string) (weir.ID, error) {
	return c.resolve(ctx, "jobs", text)
}

// Jobs lists jobs, newest first.
func (c *Client) Jobs(ctx context.Context, f view.JobFilter, p view.Page) ([]view.Job, error) {
	query := values("state", f.State, "kind", f.Kind, "name", f.Name, "workflow", f.Workflow, "schedule", f.Schedule, "parent", id(f.Parent), "origin", id(f.Origin), "of", id(f.Of), "since", when(f.Since))
	return list[view.Job](ctx, c, query, p, "jobs")
}

// Graph reads the tasks of a job and their needs.
func (c *Client) Graph(ctx context.Context, job weir.ID) (view.Graph, error) {
	return one[view.Graph](ctx, c, nil, "jobs", job.String(), "graph")
}

// Spans lists when the attempts of a job ran.
func (c *Client) Spans(ctx context.Context, job weir.ID) ([]view.Span, error) {
	return whole[view.Span](ctx, c, nil, "jobs", job.String(), "spans")
}

// Events reads the end of the timeline, or of one job's part of it, oldest
// first.
func (c *Client) Events(ctx context.Context, job weir.ID, limit int) ([]view.Event, error) {
	events := []view.Event{}
	for before := ""; len(events) < limit; {
		query := values("job", id(job), "before", before, "limit", strconv.Itoa(min(limit-len(events), mostPage)))
		got, err := one[page[view.Event]](ctx, c, query, "timeline")
		if err != nil {
			return nil, err
		}
		events = append(events, got.Items...)
		if before = got.Next; before == "" {
			break
		}
	}
	slices.Reverse(events)
	return events, nil
}

// EventsAfter reads on from a cursor, oldest first. An empty answer is the end.
func (c *Client) EventsAfter(ctx context.Context, cursor string, job, task weir.ID, limit int) ([]view.Event, error) {
	for {
		query := values("after", cursor, "job", id(job), "task", id(task), "limit", strconv.Itoa(max(min(limit, mostPage), 1)))
		got, err := one[page[view.Event]](ctx, c, query, "timeline")
		if err != nil || len(got.Items) > 0 || got.Next == "" {
			return got.Items, err
		}
		cursor = got.Next // all of it was hidden from us
	}
}

// Node reads one node.
func (c *Client) Node(ctx context.Context, name string) (view.Node, error) {
	return one[view.Node](ctx, c, nil, "nodes", name)
}

// Nodes lists the nodes by name.
func (c *Client) Nodes(ctx context.Context, p view.Page) ([]view.Node, error) {
	return list[view.Node](ctx, c, url.Values{}, p, "nodes")
}

// Schedule reads one schedule.
func (c *Client) Schedule(ctx context.Context, name string) (view.Schedule, error) {
	return one[view.Schedule](ctx, c, nil, "schedules", name)
}

// Schedules lists the schedules by name.
func (c *Client) Schedules(ctx context.Context, p view.Page) ([]view.Schedule, error) {
	return list[view.Schedule](ctx, c, url.Values{}, p, "schedules")
}

// Worker reads one worker.
func (c *Client) Worker(ctx context.Context, name string) (view.Worker, error) {
	return one[view.Worker](ctx, c, nil, "workers", name)
}

// Workers lists workers by name.
func (c *Client) Workers(ctx context.Context, f view.WorkerFilter, p view.Page) ([]view.Worker, error) {
	return list[view.Worker](ctx, c, values("node", f.Node, "service", f.Service, "all", yes(f.All)), p, "workers")
}

// Doctor checks every invariant of the database.
func (c *Client) Doctor(ctx context.Context, deep bool) ([]view.Finding, error) {
	return whole[view.Finding](ctx, c, values("deep", yes(deep)), "doctor")
}

// Overview reads the state of the whole.
func (c *Client) Overview(ctx context.Context) (view.Overview, error) {
	return one[view.Overview](ctx, c, nil, "overview")
}

// Search finds things by what a person types.
func (c *Client) Search(ctx context.Context, text string) ([]view.Hit, error) {
	return whole[view.Hit](ctx, c, values("q", text), "search")
}

// Health reads the state of the database.
func (c *Client) Health(ctx context.Context) (view.Health, error) {
	return one[view.Health](ctx, c, nil, "health")
}
