package remote

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/engine/view"
)

// page is a part of a list as it is sent.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// mostPage is how many items a list gives at a time.
const mostPage = 1000

// one reads one thing.
func one[T any](ctx context.Context, c *Client, query url.Values, path ...string) (out T, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: path, query: query}, &out)
	return out, err
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

func yes(b bool) string {
	if b {
		return "true"
	}
	return ""
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
