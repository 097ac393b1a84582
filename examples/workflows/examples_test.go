package workflows_test

import (
	"strings"
	"testing"
)

// expected is how an example ends.
type expected struct {
	// code is what weir run --watch ends with.
	code int
	// tasks are lines of key, state and result.
	tasks, artifacts string
}

// check compares the newest job of a workflow with what is expected of it.
func (w *world) check(workflow string, code int, want expected) (job string) {
	w.t.Helper()
	job = w.newest(workflow)
	state, tasks := w.ends(job)
	if code != want.code || (state == "done") != (code == 0) {
		w.t.Errorf("%s is %s, exit code %d, want %d: %s", workflow, state, code, want.code, ask[string](w, `select coalesce(cause, '') from weir.job where id = $1::uuid`, job))
	}
	if tasks != strings.TrimSpace(want.tasks) {
		w.t.Errorf("%s has the tasks\n%s\nwant\n%s", workflow, tasks, want.tasks)
	}
	if found := w.artifacts(job); found != want.artifacts {
		w.t.Errorf("%s left %q, want %q", workflow, found, want.artifacts)
	}
	return job
}

// log is what a step printed.
func (w *world) log(job, step string) string {
	w.t.Helper()
	return w.weir("task", "log", job+"/"+step)
}

func (w *world) logged(job, step, want string) {
	w.t.Helper()
	if text := w.log(job, step); !strings.Contains(text, want) {
		w.t.Errorf("the log of %s is %q, want %q in it", step, text, want)
	}
}

// TestExamples runs every example as its first lines say.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("plain")
	for name, run := range map[string]func(w *world){
		"media pipeline": mediaPipeline, "fan-out": fanOut, "approval": approval, "failure handler": failureHandler,
		"cron": cron, "nightly report": nightlyReport, "matrix": buildMatrix, "http": httpCall, "sdk": inProcess,
	} {
		t.Run(name, func(t *testing.T) {
			own := *w
			own.t = t
			run(&own)
		})
	}
}

func mediaPipeline(w *world) {
	w.agent("studio", "--services-file", "media-services.yaml")
	_, code := w.try("run", "./media-pipeline.yaml", "--watch")
	job := w.check("media-pipeline", code, expected{
		tasks: `
ingest done {"minutes": 3}
audio done {"peak": -1.5}
render done {"file": "video.txt"}
upload done {"url": "https://video.example/1"}`,
		artifacts: "ingest/source.json render/video.txt",
	})
	w.logged(job, "audio", `levels to {"lufs": -16}`)
	if got := w.weir("artifact", "get", job+"/render/video.txt", "--to", "-"); got != "a video\n" {
		w.t.Errorf("the video is %q", got)
	}
}

func fanOut(w *world) {
	_, code := w.try("run", "./fan-out.yaml", "--watch")
	job := w.check("fan-out", code, expected{
		tasks: `
scan done {"chapters": ["intro", "story", "credits"]}
encode done {"items": [{"file": "intro.txt"}, {"file": "story.txt"}, {"file": "credits.txt"}], "failed": 0}
join done {"failed": 0}
encode[0] done {"file": "intro.txt"}
encode[1] done {"file": "story.txt"}
encode[2] done {"file": "credits.txt"}`,
		artifacts: "encode[0]/intro.txt encode[1]/story.txt encode[2]/credits.txt join/all.txt",
	})
	w.logged(job, "join", "encoded story")

	// One that fails is tolerated.
	_, code = w.try("run", "./fan-out.yaml", "--watch", param("chapters", []string{"one", "broken", "three"}))
	w.check("fan-out", code, expected{
		tasks: `
scan done {"chapters": ["one", "broken", "three"]}
encode done {"items": [{"file": "one.txt"}, null, {"file": "three.txt"}], "failed": 1}
join done {"failed": 1}
encode[0] done {"file": "one.txt"}
encode[1] skipped
encode[2] done {"file": "three.txt"}`,
		artifacts: "encode[0]/one.txt encode[2]/three.txt join/all.txt",
	})

	// It is a step of another workflow, too.
	_, code = w.try("run", "./sub-workflow.yaml", "--watch")
	job = w.newest("sub-workflow")
	state, tasks := w.ends(job)
	if code != 0 || state != "done" || !strings.Contains(tasks, `check done {"failed": 0, "episodes": 2}`) {
		w.t.Errorf("exit code %d, sub-workflow is %s with\n%s", code, state, tasks)
	}
	children := ask[string](w, `select string_agg(j.name || ' ' || j.state || ' ' || (j.params -> 'chapters' ->> 0), ', ' order by q.position) from weir.job j join weir.tasks q on q.id = j.parent where q.job = $1::uuid`, job)
	if children != "fan-out done pilot, fan-out done return" {
		w.t.Errorf("its jobs are %q", children)
	}
}

func approval(w *world) {
	p := start(w.t, w.env, program, "run", "./approval.yaml", "--watch")
	w.eventually("the step that waits", `select exists (select from weir.task where service = 'exec' and key = 'publish' and gate = 'hold')`)
	job := w.newest("approval")
	if why := w.weir("why", job+"/publish"); !strings.Contains(why, "the release manager, for 1.4.0") {
		w.t.Errorf("why says\n%s", why)
	}
	w.weir("task", "release", job+"/publish")
	w.check("approval", p.exit(), expected{tasks: "build done\npublish done", artifacts: "build/notes.txt"})
	w.logged(job, "publish", "published 1.4.0")
}

func failureHandler(w *world) {
	said, code := w.try("run", "./failure-handler.yaml", "--watch")
	job := w.check("failure-handler", code, expected{code: 1, tasks: `
deploy failed
announce skipped
rollback done {"back": true}
report done`})
	w.logged(job, "deploy", "the new one does not answer")
	w.logged(job, "report", "deploy: failed, rollback: done")
	if !strings.Contains(said, "Cause: ") {
		w.t.Errorf("no cause:\n%s", said)
	}
	_, code = w.try("run", "./failure-handler.yaml", "--watch", "--param", "healthy=true")
	w.check("failure-handler", code, expected{tasks: "deploy done\nannounce done\nrollback skipped\nreport done"})
}

func cron(w *world) {
	w.weir("workflow", "apply", "./cron.yaml")
	w.eventually("two jobs by the clock", `select count(*) >= 2 from weir.job where schedule = 'workflow/cron/pulse' and state = 'done'`)
	w.weir("schedule", "pause", "workflow/cron/pulse")
	// Templates have the time to the second.
	wrong := ask[string](w, `select coalesce(string_agg(q.result::text || ' of the job for ' || j.scheduled_at, ', '), '') from weir.job j join weir.task q on q.job = j.id where j.name = 'cron' and j.state = 'done'
		and (q.result ->> 'what' <> 'pulse' or (q.result ->> 'at')::timestamptz is distinct from date_trunc('second', j.scheduled_at))`)
	if wrong != "" {
		w.t.Errorf("jobs do not know what time they stand for: %s", wrong)
	}
	// The clocks went forward in Budapest on 2026-03-29, from two to three.
	said := w.weir("workflow", "backfill", "cron", "--schedule", "workflow/cron/nightly", "--from", "2026-03-28", "--to", "2026-03-31", "--dry-run", "-o", "json")
	for _, at := range []string{"2026-03-28T02:00:00+01:00", "2026-03-30T02:00:00+02:00"} {
		if !strings.Contains(said, at) {
			w.t.Errorf("no run at %s:\n%s", at, said)
		}
	}
}

func nightlyReport(w *world) {
	_, code := w.try("run", "./nightly-report.yaml", "--watch", "--param", "customer=Kovács; touch pwned; $(touch pwned)")
	job := w.newest("nightly-report")
	if state, _ := w.ends(job); state != "done" || code != 0 {
		w.t.Errorf("the job is %s, exit code %d", state, code)
	}
	w.logged(job, "report", "for Kovács; touch pwned; $(touch pwned)")
	w.weir("workflow", "backfill", "nightly-report", "--schedule", "workflow/nightly-report/nightly", "--from", "2026-07-10", "--to", "2026-07-11")
	job = ask[string](w, `select id::text from weir.job where schedule = 'workflow/nightly-report/nightly' and scheduled_at = '2026-07-09 22:30Z'`)
	if _, tasks := w.ends(job); tasks != `report done {"day": "2026-07-09", "month": "2026-07-01"}` {
		w.t.Errorf("the report of the night to 10 July: %s", tasks)
	}
}

func buildMatrix(w *world) {
	_, code := w.try("run", "./matrix.yaml", "--watch")
	w.check("matrix", code, expected{tasks: `
take done
build done {"items": [{"built": "linux-1.24"}, {"built": "linux-1.25"}, {"built": "windows-1.25"}], "failed": 0}
give-back done
build[1.24,linux] done {"built": "linux-1.24"}
build[1.25,linux] done {"built": "linux-1.25"}
build[1.25,windows] done {"built": "windows-1.25"}`})
	_, code = w.try("run", "./matrix.yaml", "--watch", "--param", "fail=windows")
	job := w.newest("matrix")
	if state, _ := w.ends(job); state != "failed" || code != 1 {
		w.t.Errorf("the job is %s, exit code %d", state, code)
	}
	w.logged(job, "give-back", "given back, build was failed")
	w.weir("run", "./matrix.yaml", "--param", "seconds=600")
	job = w.newest("matrix")
	w.eventually("a build runs", `select exists (select from weir.task where job = $1::uuid and state = 'running' and key like 'build[%')`, job)
	w.weir("job", "cancel", job)
	if state, tasks := w.ends(job); state != "canceled" || !strings.Contains(tasks, "give-back done") {
		w.t.Errorf("the job is %s: %s", state, tasks)
	}
	w.logged(job, "give-back", "given back, build was canceled")
}

func inProcess(w *world) {
	bin := build(w.t, "./sdk")
	start(w.t, w.env, bin).line("serving shop.price")
	_, code := w.try("run", "./sdk.yaml", "--watch")
	w.check("sdk", code, expected{tasks: "price done {\"cents\": 500}\ncharge done \"charged 5.00\""})
}

func httpCall(w *world) {
	port := freePort(w.t)
	start(w.t, nil, build(w.t, "./wordcount"), "serve", local(port)).line("serving")
	_, code := w.try("run", "./http.yaml", "--watch", param("port", port))
	job := w.check("http", code, expected{tasks: "count done {\"words\": 2}\njudge done"})
	w.logged(job, "judge", "2 words")
	_, code = w.try("run", "./http.yaml", "--watch", param("port", port), "--param", "text=one")
	w.check("http", code, expected{tasks: "count done {\"words\": 1}\njudge skipped"})
}
