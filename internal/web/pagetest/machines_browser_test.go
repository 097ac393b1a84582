package pagetest_test

import (
	"net/url"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/web/webtest"
)

func pathOf(parts ...string) string { return ui.Path(parts...) }

// queryOf is an address with parameters: name, value, name, value.
func queryOf(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return path + "?" + q.Encode()
}

// Pictures of all pages of machines, full and empty, and a look at each for what
// sticks out.
func TestBrowserMachineShots(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	b.Login(s.User(t, "ada", auth.Admin))
	for name, path := range map[string]string{"pools-empty": "/pools", "schedules-empty": "/schedules", "nodes-empty": "/nodes", "workers-empty": "/workers", "joins-empty": "/joins"} {
		b.Go(path)
		b.Shots(name)
	}
	farm(t, s)
	for name, path := range map[string]string{
		"pools": "/pools", "pool": "/pools/encoders", "pool-stopped": "/pools/archive", "new-pool": "/new-pool", "pool-delete": "/pools/encoders/delete",
		"schedules": "/schedules", "schedule": "/schedules/nightly-report", "schedule-paused": "/schedules/old-sync", "schedule-change": "/schedules/nightly-report/change",
		"nodes": "/nodes", "node": "/nodes/render-01", "node-drains": "/nodes/render-02", "node-dead": "/nodes/render-03", "node-drain": "/nodes/render-01/drain", "joins": "/joins", "new-join": "/new-join",
		"workers": "/workers", "worker": "/workers/encoder@render-01", "timeline": "/timeline", "timeline-none": "/timeline?type=nothing",
	} {
		b.Go(path)
		b.Shots(name)
	}
}
