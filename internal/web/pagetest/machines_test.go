package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/web/webtest"
)

// farm fills the database with what a small render farm would have: pools that
// are full, stopped and free, schedules, nodes in all states, workers, tasks.
func farm(t *testing.T, s *webtest.Server) {
	t.Helper()
	s.Exec(t,
		`select weir.set_pool('encoders', size => 3, note => 'three licences for the encoder, shared by all films')`,
		`select weir.set_pool('mail', rate => 6, per => '1 min', note => 'the provider allows no more')`,
		`select weir.set_pool('archive', size => 0, note => 'stopped while the tape library is moved')`,
		`select weir.set_pool('gpu', size => 40, rate => 100, per => '1 h')`,
		`select weir.register_node('render-01', '{"zone": "berlin", "gpu": "a100"}', '{"encode": 4, "thumbnail": 16}')`,
		`select weir.register_node('render-02', '{"zone": "berlin", "gpu": "a100"}', '{"encode": 4, "thumbnail": 16}')`,
		`select weir.register_node('render-03', '{"zone": "paris"}', '{"encode": 2}')`,
		`select weir.register_node('mailer', '{}', '{}')`,
		`select weir.register_worker('encoder@render-01', '{encode,thumbnail}', 'render-01', '{"version": "1.4"}')`,
		`select weir.register_worker('encoder@render-02', '{encode,thumbnail}', 'render-02')`,
		`select weir.register_worker('encoder@render-03', '{encode}', 'render-03')`,
		`select weir.register_worker('mailer-7f9c', '{mail}', 'mailer')`,
		`select weir.register_worker('old-encoder', '{encode}')`,
		`select weir.stop_worker('old-encoder')`,
		`select weir.set_node_mode('render-02', 'draining', 'new disks at noon', now() + interval '3 h', 'ada')`,
		`select weir.set_node_mode('mailer', 'paused', 'the provider has trouble', null, 'bob')`,
		`update weir.nodes set seen_at = now() - interval '5 min' where name = 'render-03'`,
		`update weir.workers set seen_at = now() - interval '5 min' where name = 'encoder@render-03'`,
		`select weir.submit('encode', jsonb_build_object('film', i), pool => 'encoders') from generate_series(1, 9) i`,
		`select weir.submit('thumbnail', jsonb_build_object('film', i)) from generate_series(1, 6) i`,
		`select weir.submit('mail', '{}', pool => 'mail') from generate_series(1, 8)`,
		`select weir.submit('tape', '{}', pool => 'archive') from generate_series(1, 2)`,
		`select weir.open_gates()`,
		`select weir.claim('encoder@render-01', '{encode}', 2, lease => '1 h')`,
		`select weir.claim('encoder@render-01', '{thumbnail}', 4, lease => '1 h')`,
		`select weir.record(c.task, c.attempt, c.token, 'progress', 'frame 1200 of 2400', '{"percent": 50}') from weir.claim('encoder@render-01', '{thumbnail}', 1, lease => '1 h') c`,
		`select weir.fail(c.task, c.attempt, c.token, 'ffmpeg: exit status 1: no such codec: h266', true) from weir.claim('encoder@render-01', '{encode}', 1, lease => '1 h') c`,
		`select weir.set_schedule('nightly-report', '0 3 * * *', '{"service": "report", "params": {"day": "yesterday"}, "timeout": "600000000 us"}', now() + interval '9 h', 'Europe/Budapest')`,
		`select weir.set_schedule('tidy', '@every 10m', '{"service": "tidy"}', now() - interval '2 min', 'UTC', 'skip')`,
		`select weir.set_schedule('invoices', '30 7 1 * *', '{"service": "invoice"}', now() + interval '16 days', 'Europe/Berlin', 'all')`,
		`select weir.set_schedule('quarter', '0 6 1 1,4,7,10 *', '{"service": "report", "params": {"kind": "quarter"}}', now() + interval '40 days')`,
		`select weir.set_schedule('old-sync', '*/15 * * * *', '{"service": "sync"}', now() + interval '1 min', paused => true)`,
		`select weir.fire_schedule(name, next_at, array[next_at], next_at + interval '10 min') from weir.schedules where name = 'tidy'`,
	)
	if _, err := s.Auth.CreateJoin(t.Context(), auth.System("ada"), auth.NewJoin{Node: "render-04", Any: true}); err != nil {
		t.Fatal(err)
	}
	secret, err := s.Auth.CreateJoin(t.Context(), auth.System("ada"), auth.NewJoin{Any: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Auth.Join(t.Context(), secret, "render-01"); err != nil {
		t.Fatal(err)
	}
}

// A viewer sees all pages and not one button; nothing can be done by hand either.
func TestMachinesViewer(t *testing.T) {
	s := webtest.Start(t)
	farm(t, s)
	viewer, operator := s.Login(t, "vera", auth.Viewer), s.Login(t, "otto", auth.Operator)
	for _, c := range []*webtest.Client{viewer, operator} {
		for _, path := range []string{
			"/pools", "/pools/encoders", "/schedules", "/schedules/tidy", "/schedules/old-sync", "/nodes", "/nodes/render-01", "/nodes/render-02",
			"/workers", "/workers?stopped=yes", "/workers/old-encoder", "/timeline",
		} {
			c.Get(t, path).Is(t, 200).Lacks(t, "/new-pool", "/limits", "/delete", "/new-schedule", "/change", "/pause", "/resume", "/drain", "/revoke", "/new-join", "/joins", "data-confirm")
		}
		for _, path := range []string{
			"/new-pool", "/pools/encoders/limits", "/pools/encoders/delete", "/new-schedule", "/schedules/tidy/change", "/schedules/tidy/pause", "/schedules/old-sync/resume",
			"/schedules/tidy/delete", "/nodes/render-01/drain", "/nodes/render-01/pause", "/nodes/render-02/resume", "/nodes/render-01/revoke", "/new-join", "/joins/x/revoke",
		} {
			c.Post(t, path, form("name", "x", "size", "1", "force", "yes", "hours", "1", "spec", "@daily", "task", `{"service": "x"}`)).Is(t, 403)
			c.Get(t, path).Is(t, 403)
		}
		c.Get(t, "/joins").Is(t, 403)
	}
	if p, err := s.Store.Pool(t.Context(), "encoders"); err != nil || *p.Size != 3 {
		t.Errorf("the pool was changed: %+v, %v", p, err)
	}
	if n, err := s.Store.Node(t.Context(), "render-01"); err != nil || n.State != "active" {
		t.Errorf("the node was changed: %+v, %v", n, err)
	}
}

// Whatever stands in a name, a note, a label or a message, it is text.
func TestMachinesHostile(t *testing.T) {
	s := webtest.Start(t)
	ctx := t.Context()
	for _, sql := range []string{
		`select weir.set_pool($1, size => 1, note => $1)`,
		`select weir.register_node($1, jsonb_build_object($1::text, $1::text), jsonb_build_object($1::text, 2))`,
		`select weir.register_worker($1, array[$1], $1, jsonb_build_object($1::text, $1::text))`,
		`select weir.submit($1, jsonb_build_object('x', $1::text), pool => $1)`,
		`select weir.submit($1, jsonb_build_object('x', $1::text), pool => $1)`,
		`select weir.claim($1, array[$1], lease => '1 h')`,
		`select weir.set_node_mode($1, 'draining', $1, null, $1)`,
		`select weir.set_schedule($1, '@daily', jsonb_build_object('service', $1::text, 'params', jsonb_build_object($1::text, $1::text)), now() + interval '1 h')`,
		`insert into weir.events (at, type, kind, subject, source, level, message, data) values (now(), $1, 'node', $1, $1, 'warn', $1, jsonb_build_object($1::text, $1::text))`,
	} {
		if _, err := s.DB.Pool.Exec(ctx, sql, evil); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	c := s.Login(t, "ada", auth.Admin)
	for _, path := range []string{
		"/pools", pathOf("pools", evil), pathOf("pools", evil, "limits"), pathOf("pools", evil, "delete"),
		"/schedules", pathOf("schedules", evil), pathOf("schedules", evil, "change"), pathOf("schedules", evil, "delete"),
		"/nodes", pathOf("nodes", evil), pathOf("nodes", evil, "drain"), "/workers", pathOf("workers", evil), "/timeline", queryOf("/timeline", "kind", "node", "subject", evil),
		queryOf("/workers", "service", evil),
	} {
		c.Get(t, path).Is(t, 200).Has(t, "&lt;script&gt;").Lacks(t, "<script>alert", "<img src=x", `"'>`)
	}
	// In the address too.
	c.Get(t, queryOf("/timeline", "type", evil)).Is(t, 200).Lacks(t, "<script>alert", "<img src=x")
	c.Get(t, queryOf("/timeline", "kind", evil)).Is(t, 422).Lacks(t, "<script>alert", "<img src=x")
	// And what a form gives back.
	c.Post(t, "/new-pool", form("name", evil, "size", evil)).Is(t, 422).Lacks(t, "<script>alert", "<img src=x")
	c.Post(t, "/new-schedule", form("name", "x", "spec", evil, "zone", evil, "task", evil)).Is(t, 422).Lacks(t, "<script>alert", "<img src=x")
}
