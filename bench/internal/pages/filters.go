package pages

import (
	"strings"

	"github.com/weirhq/weir/internal/engine/view"
)

// The filters of lists: common values, rare values, values that occurred only long ago,
// missing values, and pairs of these.
var (
	taskFilters = []view.TaskFilter{
		{},
		{State: "pending"},
		{State: "available"},
		{State: "running"},
		{State: "done"},
		{State: "failed"},
		{State: "canceled"},
		{State: "skipped"},
		{Gate: "needs"},
		{Gate: "time"},
		{Gate: "hold"},
		{Gate: "lane"},
		{Gate: "pool"},
		{Gate: "pool", Pool: "pool-007"},
		{Gate: "lane", Lane: "lane-7"},
		{Service: "service-7"},
		{Service: "archive"},
		{Service: "seldom"},
		{Service: "missing"},
		{Service: "service-7", State: "pending"},
		{Service: "service-7", State: "available"},
		{Service: "service-7", State: "running"},
		{Service: "service-7", State: "done"},
		{Service: "archive", State: "done"},
		{Service: "seldom", State: "failed"},
		{Service: "service-7", State: "failed"},
		{Pool: "pool-007"},
		{Pool: "pool-007", State: "available"},
		{Pool: "pool-007", State: "done"},
		{Key: "step-5"},
		{Key: "missing"},
		{Key: "step-5", State: "failed"},
		{Key: "step-5", State: "pending"},
		{Worker: "worker-007"},
		{Node: "node-007"},
	}
	jobFilters = []view.JobFilter{
		{},
		{State: "running"},
		{State: "done"},
		{State: "failed"},
		{State: "canceled"},
		{Kind: "workflow"},
		{Kind: "rare"},
		{Kind: "missing"},
		{Name: "nightly-"},
		{Name: "nightly-77"},
		{Name: "special-"},
		{Name: "missing"},
		{State: "failed", Kind: "rollout"},
		{State: "failed", Kind: "rare"},
		{State: "done", Kind: "rare"},
		{State: "running", Kind: "workflow"},
		{State: "failed", Name: "special-"},
		{State: "done", Name: "deploy-"},
		{Kind: "workflow", Name: "nightly-1"},
	}
	timelineFilters = []view.TimelineFilter{
		{},
		{Kind: "task"},
		{Kind: "job"},
		{Kind: "node"},
		{Kind: "missing"},
		{Type: "failed"},
		{Type: "missing"},
		{Level: "error"},
		{Level: "warn", Type: "retrying"},
		{Kind: "node", Subject: "node-007"},
		{NotKinds: []string{"auth"}},
		{Kind: "job", Type: "failed"},
	}
)

// filter writes the set fields of a filter.
func filter(f any) string {
	switch f := f.(type) {
	case view.TaskFilter:
		return set("state", string(f.State), "gate", string(f.Gate), "service", f.Service, "pool", f.Pool, "lane", f.Lane, "key", f.Key, "worker", f.Worker, "node", f.Node)
	case view.JobFilter:
		return set("state", f.State, "kind", f.Kind, "name", f.Name)
	case view.TimelineFilter:
		not := ""
		if len(f.NotKinds) > 0 {
			not = f.NotKinds[0]
		}
		return set("kind", f.Kind, "type", f.Type, "level", f.Level, "subject", f.Subject, "not", not)
	}
	return ""
}

// pairs returns the fields that filter has written.
func pairs(text string) (all [][2]string) {
	for field := range strings.FieldsSeq(text) {
		if name, value, ok := strings.Cut(field, "="); ok {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

func set(pairs ...string) (text string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			text += " " + pairs[i] + "=" + pairs[i+1]
		}
	}
	if text == "" {
		return "all"
	}
	return text[1:]
}
