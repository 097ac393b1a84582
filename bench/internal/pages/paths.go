package pages

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
)

// Path is a path that a browser or a program requests.
type Path struct {
	// Page is the kind of page, and Name is which of them.
	Page, Name string
	// At returns the path for the ith request; each request is for another object, if
	// possible.
	At func(i int) string
}

// Paths prepares the paths: every page of the dashboard, and the lists of the API.
func Paths(ctx context.Context, pool *pgxpool.Pool) ([]Path, error) {
	t, err := pick(ctx, pool)
	if err != nil {
		return nil, err
	}
	all := t.listPaths()
	add := func(page, name string, at func(i int) string) { all = append(all, Path{page, name, at}) }
	still := func(page string, paths ...string) {
		for _, path := range paths {
			add(page, path, func(int) string { return path })
		}
	}
	for _, of := range []struct {
		name string
		ids  []weir.ID
	}{{"a job", t.jobs}, {"a job of 2,000 tasks", t.wideJobs}} {
		for _, part := range []string{"", "/gantt", "/tasks", "/tasks?state=failed", "/timeline", "/params"} {
			add("job", of.name+" "+part, func(i int) string { return "/jobs/" + at(of.ids, i).String() + part })
		}
	}
	for _, of := range []struct {
		name string
		ids  []weir.ID
	}{{"an old task", t.tasks}, {"a failed task", t.failed}, {"a running task", t.running}, {"a waiting task", t.waiting}} {
		add("task", of.name, func(i int) string { return "/tasks/" + at(of.ids, i).String() })
	}
	still("overview", "/")
	still("machines", "/pools", "/pools/pool-007", "/schedules", "/schedules/schedule-007", "/nodes", "/nodes/node-007", "/workers", "/workers?stopped=yes", "/workers?service=service-7",
		"/workers/worker-007", "/joins")
	still("health", "/health")
	still("search", "/search?q=nightly-7", "/search?q=step-5", "/search?q=nothing+of+that+name", "/search?q=0123456789ab")
	add("search", "an id", func(i int) string { return "/search?q=" + at(t.tasks, i).String() })
	add("search", "the end of an id", func(i int) string { return "/search?q=" + at(t.running, i).String()[24:] })
	still("people", "/users", "/users/"+admin, "/tokens", "/account", "/settings")
	return all, nil
}

// listPaths returns the lists with each of their filters, on pages and in the API.
func (t *things) listPaths() (all []Path) {
	const api = "/api/v1"
	for _, base := range []string{"", api} {
		list := func(name, filter string, deep string, from []weir.ID) {
			query := url.Values{}
			for _, pair := range pairs(filter) {
				query.Set(pair[0], pair[1])
			}
			all = append(all, Path{name, base + "/" + name + " " + filter + deep, func(i int) string {
				if deep != "" {
					query.Set("after", at(from, i).String())
				}
				return base + "/" + name + "?" + query.Encode()
			}})
		}
		for _, deep := range []string{"", ", deep"} {
			for _, f := range taskFilters {
				list("tasks", filter(f), deep, t.tasks)
			}
			for _, f := range jobFilters {
				list("jobs", filter(f), deep, t.jobs)
			}
		}
	}
	for _, f := range []string{"", "kind=task", "kind=job", "kind=node", "type=failed", "type=missing", "level=error", "level=warn&type=retrying", "kind=node&subject=node-007", "kind=auth"} {
		all = append(all, Path{"timeline", "/timeline " + f, func(int) string { return "/timeline?" + f }})
		all = append(all, Path{"timeline", "/timeline " + f + ", deep", func(i int) string {
			return fmt.Sprintf("/timeline?%s&before=%s", f, url.QueryEscape(at(t.places, i)))
		}})
	}
	return all
}
