package pagetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/web/webtest"
)

// hostile is a text that would run, were it ever HTML, and that would paint,
// were it ever sent to a terminal.
const hostile = `<img src=x onerror=alert(1)>'"&</script>` + "\x1b[31mred\x1b]8;;javascript:alert(2)\x07"

// studio is a database with everything that pages show: tasks at all gates,
// running, failed, canceled, and jobs large and small.
type studio struct {
	job, wide, bad                        weir.ID
	held, timed, pooled, laned, needing   weir.ID
	running, failed, ready, done, hostile weir.ID
}

func submit(t testing.TB, s *webtest.Server, task weir.Task) weir.ID {
	t.Helper()
	receipt, err := s.Client.Submit(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return receipt.ID
}

func submitJob(t testing.TB, s *webtest.Server, job weir.Job) weir.ID {
	t.Helper()
	id, err := s.Client.SubmitJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// taskOf is the task of a job by its key.
func taskOf(t testing.TB, s *webtest.Server, job weir.ID, key string) weir.ID {
	t.Helper()
	g, err := s.Store.Graph(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		if n.Key == key {
			return n.ID
		}
	}
	t.Fatalf("the job has no task %s", key)
	return weir.ID{}
}

// furnish fills the database. A worker that runs nothing by itself holds the
// leases, through SQL.
func furnish(t testing.TB, s *webtest.Server) studio {
	t.Helper()
	var st studio
	if err := s.Client.SetPool(t.Context(), weir.Pool{Name: "encoders", Size: weir.Size(1), Note: "one encoder"}); err != nil {
		t.Fatal(err)
	}
	st.job = submitJob(t, s, film("The Lock Keeper"))
	st.held = submit(t, s, weir.Task{Service: "review", Key: "trailer", Hold: "the editor: watch the trailer first"})
	st.timed = submit(t, s, weir.Task{Service: "report.nightly", RunAt: time.Now().Add(3 * time.Hour)})
	submit(t, s, weir.Task{Service: "render", Key: "first in the pool", Pool: "encoders"})
	st.pooled = submit(t, s, weir.Task{Service: "render", Key: "second in the pool", Pool: "encoders"})
	submit(t, s, weir.Task{Service: "site.publish", Key: "v41", Lane: "site", Exclusive: true})
	st.laned = submit(t, s, weir.Task{Service: "site.publish", Key: "v42", Lane: "site", Exclusive: true})
	st.ready = submit(t, s, weir.Task{Service: "nobody.serves.this", Params: map[string]any{"why": "no worker"}})
	st.failed = submit(t, s, weir.Task{Service: "mail.send", Key: "2026-11 청구서 발송", MaxAttempts: 1, Params: map[string]any{"to": "a@example.org", "제목": "11월 청구서"}})
	st.done = submit(t, s, weir.Task{Service: "hello", Params: map[string]any{"name": "world"}})
	st.hostile = submit(t, s, weir.Task{Service: "x" + hostile, Key: "k" + hostile, Params: map[string]any{hostile: hostile}, MaxAttempts: 1, Labels: map[string]string{"l": hostile}})
	st.bad = submitJob(t, s, weir.Job{Name: "j" + hostile, Kind: "k" + hostile, Params: map[string]any{hostile: hostile}, Tasks: []weir.Task{{Service: "x" + hostile, Key: "in" + hostile, Hold: hostile}}})
	st.wide = submitJob(t, s, render200())

	s.Exec(t,
		`select weir.register_node('pc-07', labels => '{"gpu": "rtx"}', capacity => '{"demo.encode": 4}')`,
		`select weir.register_worker('encoder@pc-07', array['probe', 'render', 'site.publish', 'mail.send', 'hello', 'frame.render'], node => 'pc-07')`,
		`select weir.record(task, attempt, token, 'progress', 'reading the container', '{"percent": 64}') from weir.claim('encoder@pc-07', array['probe'], 1, lease => '1 h')`,
		`select weir.record(task, attempt, token, 'note', `+"E'\\x1b[33mcodec\\x1b[0m is old\\nsecond line'"+`, null, 'warn') from weir.running, lateral (select 1) x`,
		`select count(*) from weir.claim('encoder@pc-07', array['site.publish'], 1, lease => '1 h')`,
		`select weir.fail(task, attempt, token, `+"E'the mail server said no: 550 mailbox unavailable\\n\\tat send (mail.go:42)'"+`) from weir.claim('encoder@pc-07', array['mail.send'], 1, lease => '1 h')`,
		`select weir.finish(task, attempt, token, '{"greeting": "hello, world", "seconds": 2}') from weir.claim('encoder@pc-07', array['hello'], 1, lease => '1 h')`,
		`select weir.finish(task, attempt, token, '{}') from weir.claim('encoder@pc-07', array['frame.render'], 60, lease => '1 h')`,
		`select weir.fail(task, attempt, token, 'out of memory on the card') from weir.claim('encoder@pc-07', array['frame.render'], 3, lease => '1 h')`,
		`select count(*) from weir.claim('encoder@pc-07', array['frame.render'], 8, lease => '1 h')`,
	)
	if _, err := s.DB.Pool.Exec(t.Context(), `select weir.register_worker($1, array[$2::text], labels => jsonb_build_object('l', $3::text))`, "w"+hostile, "x"+hostile, hostile); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`select weir.record(task, attempt, token, 'note', $3) from weir.claim($1, array[$2::text], 1, lease => '1 h')`,
		`select weir.fail(r.task, r.attempt, r.token, $3) from weir.running r join weir.workers w on w.id = r.worker where w.name = $1 and $2 <> ''`,
	} {
		if _, err := s.DB.Pool.Exec(t.Context(), sql, "w"+hostile, "x"+hostile, "c"+hostile); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec(t, `select weir.tally()`, `insert into weir.minutes (at, submitted, started, done, failed, wait_p50, wait_p95)
		select date_trunc('minute', now()) - n * interval '1 min', 50, 40, 30 + (n * 7) % 23, n % 4, 0.2 + (n % 5) * 0.1, 1.5 + (n % 7) from generate_series(1, 50) n where n not between 20 and 24
		on conflict do nothing`) // a minute may have ended meanwhile, and be there
	// It lives, so that the doctor has nothing to say at the end of a slow test.
	s.AtEnd(func() {
		if _, err := s.DB.Pool.Exec(context.WithoutCancel(t.Context()), `select weir.heartbeat('encoder@pc-07')`); err != nil {
			t.Errorf("heartbeat: %v", err)
		}
	})
	st.running, st.needing = taskOf(t, s, st.job, "probe"), taskOf(t, s, st.job, "package")
	return st
}

// film is a small job, like that of the demo.
func film(title string) weir.Job {
	params := map[string]string{"title": title}
	return weir.Job{Name: title, Kind: "film", Params: params, Tasks: []weir.Task{
		{Service: "probe", Key: "probe", Params: params, Timeout: time.Hour, Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
		{Service: "encode", Key: "1080p", Needs: []string{"probe"}},
		{Service: "encode", Key: "720p", Needs: []string{"probe"}},
		{Service: "thumbnails", Key: "thumbnails", Needs: []string{"probe"}},
		{Service: "package", Key: "package", Needs: []string{"1080p", "720p", "thumbnails"}},
		{Service: "publish", Key: "publish", Needs: []string{"package"}, Lane: "site-films"},
	}}
}

// render200 is a job of two hundred tasks with long and Korean names.
func render200() weir.Job {
	job := weir.Job{Name: "봄 여름 가을 겨울 그리고 봄: the whole film in two hundred frames, rendered for the third time", Kind: "render"}
	for scene := range 4 {
		first := fmt.Sprintf("장면-%d/prepare-the-geometry-and-the-textures", scene)
		job.Tasks = append(job.Tasks, weir.Task{Service: "frame.render", Key: first})
		var frames []string
		for n := range 48 {
			key := fmt.Sprintf("장면-%d/frame-%03d", scene, n)
			frames = append(frames, key)
			job.Tasks = append(job.Tasks, weir.Task{Service: "frame.render", Key: key, Needs: []string{first}, MaxAttempts: 1})
		}
		job.Tasks = append(job.Tasks, weir.Task{Service: "frame.join", Key: fmt.Sprintf("장면-%d/join", scene), Needs: frames})
	}
	return job
}

// work runs a worker of the SDK until the test ends. Each step waits until the
// test lets it go on; the encoder fails once.
func work(t testing.TB, s *webtest.Server, gate <-chan struct{}) {
	t.Helper()
	w := weir.NewWorker(s.Client, weir.WorkerConfig{Name: "studio", PollFloor: time.Second, Grace: time.Second})
	for _, service := range []string{"probe", "encode", "thumbnails", "package", "publish"} {
		weir.Handle(w, service, func(ctx context.Context, run *weir.Run[struct{ Title string }]) (any, error) {
			run.Progress(50, "half of "+run.Key)
			select {
			case <-gate:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			if run.Key == "thumbnails" && run.Attempt == 1 {
				return nil, weir.RetryAfter(time.Millisecond, errors.New("the picture server is busy"))
			}
			return map[string]string{"made": run.Key}, nil
		})
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the worker: %v", err)
		}
	})
}
