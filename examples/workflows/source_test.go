package workflows_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/blob/joblog"
	"github.com/weirhq/weir/internal/dockertest"
)

// asClient runs statements as a program that has no more than the role
// weir_client, and gives the id that the last one returns.
func (w *world) asClient(sql string, args ...any) (id string) {
	w.t.Helper()
	err := pgx.BeginFunc(w.t.Context(), w.db.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(w.t.Context(), `set local role weir_client`); err != nil {
			return err
		}
		return tx.QueryRow(w.t.Context(), sql, args...).Scan(&id)
	})
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return id
}

// insertWorkflow and insertJob are what a scheduler does that speaks SQL alone.
func (w *world) insertWorkflow(name, steps string) string {
	w.t.Helper()
	return w.asClient(`insert into flow.workflows (name, version, steps) values ($1, 1, $2::jsonb) returning id::text`, name, steps)
}

func (w *world) insertJob(workflow, options string) string {
	w.t.Helper()
	return w.asClient(`insert into flow.jobs (workflow_id, status, order_seq, scheduled_at, options)
		values ($1::uuid, 'queued', nextval('flow.order_seq'), now() + interval '1 s', $2::jsonb) returning id::text`, workflow, options)
}

// TestSmoke is the smoke test of the workflow core: two jobs of two tasks each run
// in the global order.
func TestSmoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.insertWorkflow("mini", `[{"key":"a","service":"work","depends_on":[],"default_params":{}}, {"key":"b","service":"work","depends_on":["a"],"default_params":{}}]`)
	first, second := w.insertJob(flow, `{}`), w.insertJob(flow, `{}`)
	w.eventually("both jobs to be built", `select count(*) = 2 from flow.jobs where status = 'running' and current_task_key = 'a'`)
	w.agent("only", "--services-file", w.write("services.yaml", "work: {slots: 1, run: ['true']}\n", 0o600))
	w.eventually("the end of both jobs", `select count(*) = 2 from flow.jobs where status = 'done' and progress = 100`)
	order := ask[string](w, `
		select string_agg(case e.job_id when $1::uuid then 'first.' when $2::uuid then 'second.' end || q.task_key, ' ' order by e.id)
		from flow.task_events e join flow.job_tasks q on q.id = e.job_task_id where e.type = 'status' and e.data ->> 'status' = 'starting'`, first, second)
	if order != "first.a first.b second.a second.b" {
		t.Errorf("the tasks ran in the order %s", order)
	}
}

// TestHappyPath is the happy path of the workflow core, by plain SQL: a scheduler
// inserts, the server builds, agents on two machines do the work (one on the
// database, one with a token of the server and Docker), and all of it can be read
// under the names of that core.
func TestHappyPath(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	importImage(t, host, build(t, "./wordcount"))
	w := newWorld(t)
	w.agent("studio", "--services-file", w.write("services.yaml", `
ingest: {slots: 1, run: [sh, -c, 'cp "$WEIR_PARAMS" "$WEIR_OUT/source.json"']}
audio-norm: {slots: 4, run: [sh, -c, 'echo "::progress 50"; echo "::result {\"peak\": -1.5}"']}
yt-upload: {slots: 1, run: [sh, -c, 'echo "::result {\"url\": \"https://video.example/1\"}"']}
`, 0o600))
	w.remoteAgent("gpu-1", "--labels", "gpu=true,zone=eu", "--docker-host", host, "--services-file",
		w.write("services.yaml", "renderer: {slots: 2, run: {image: "+imageName+"}}\n", 0o600))

	flow := w.insertWorkflow("media", `[
		{"key":"ingest","service":"ingest","depends_on":[],"default_params":{"source":"s3://..."}},
		{"key":"audio","service":"audio-norm","depends_on":["ingest"],"default_params":{"lufs":-16}},
		{"key":"render","service":"renderer","depends_on":["audio"],"default_params":{"preset":"1080p30"}},
		{"key":"upload","service":"yt-upload","depends_on":["render"],"default_params":{}}]`)
	job := w.insertJob(flow, `{"steps": {"render": {"params": {"text": "scene one"}}}}`)
	w.eventually("the end of the job", `select status in ('done', 'error') from flow.jobs where id = $1::uuid`, job)

	if got := ask[string](w, `select concat_ws(' ', status, progress, error_message) from flow.jobs where id = $1::uuid and started_at >= scheduled_at and finished_at >= started_at`, job); got != "done 100.0" {
		t.Errorf("the job is %s", got)
	}
	tasks := ask[string](w, `select string_agg(concat_ws(' ', task_key, status, service_name, assigned_node, depends_on::text, params, results), E'\n' order by started_at) from flow.job_tasks where job_id = $1::uuid`, job)
	if want := strings.TrimSpace(`
ingest done ingest studio {} {"source": "s3://..."}
audio done audio-norm studio {ingest} {"lufs": -16} {"peak": -1.5}
render done renderer gpu-1 {audio} {"text": "scene one", "preset": "1080p30"} {"words": 2}
upload done yt-upload studio {render} {} {"url": "https://video.example/1"}`); tasks != want {
		t.Errorf("the tasks are\n%s\nwant\n%s", tasks, want)
	}

	// The timeline has each change; a task that ends at once may skip "running".
	statuses := ask[string](w, `select string_agg(e.data ->> 'status', ' ' order by e.id) from flow.task_events e join flow.job_tasks q on q.id = e.job_task_id
		where q.job_id = $1::uuid and q.task_key = 'render' and e.type = 'status'`, job)
	if !regexp.MustCompile(`^(queued )+starting (running )?done$`).MatchString(statuses) {
		t.Errorf("render went through %s", statuses)
	}
	if n := ask[int](w, `select count(*) from flow.task_events e join flow.job_tasks q on q.id = e.job_task_id where q.job_id = $1::uuid and q.task_key = 'render' and e.type = 'artifact'`, job); n == 0 {
		t.Error("the timeline does not tell of the artifact")
	}
	w.checkObjects(job)
}

// checkObjects compares what flow.task_artifacts says with what the S3 server has.
func (w *world) checkObjects(job string) {
	w.t.Helper()
	key := fmt.Sprintf("outputs/%s/render/1/words.txt", job)
	content := w.object(key)
	if content != "scene\none\n" {
		w.t.Errorf("the artifact of render is %q", content)
	}
	sum := sha256.Sum256([]byte(content))
	recorded := ask[string](w, `select concat_ws(' ', kind, size_bytes, checksum) from flow.task_artifacts where job_id = $1::uuid and key = $2`, job, key)
	if recorded != fmt.Sprintf("output %d %s", len(content), hex.EncodeToString(sum[:])) {
		w.t.Errorf("its record is %s", recorded)
	}
	lines, err := joblog.Tail(w.t.Context(), w.bucket, joblog.Log{Job: job, Task: "render", Attempt: 1}, 100)
	if err != nil || !slices.ContainsFunc(lines, func(l joblog.Line) bool { return strings.Contains(l.Text, `counts "scene one"`) }) {
		w.t.Errorf("the log of render is %v, %v", lines, err)
	}
}

// object reads one of the bucket.
func (w *world) object(key string) string {
	w.t.Helper()
	r, _, err := w.bucket.Get(w.t.Context(), key, 0, -1)
	if err != nil {
		w.t.Fatalf("%s: %v", key, err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}
