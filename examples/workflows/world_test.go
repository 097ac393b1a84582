package workflows_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// world is a Weir as people run it: a database, a bucket on an S3 server, one
// server process, and agents as processes of their own.
type world struct {
	t      *testing.T
	db     *testdb.DB
	bucket blob.Bucket
	// env is what every process of this world has.
	env []string
	// url is where the server listens.
	url string
}

// newWorld starts a server. Settings are NAME=value, as in its environment.
func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	s3, home := blobtest.S3(t), t.TempDir()
	w := &world{t: t, db: testdb.New(t), bucket: blobtest.At(t, s3)}
	w.env = []string{
		"HOME=" + home, "WEIR_DATABASE_URL=" + w.db.URL, "WEIR_BUCKET=" + s3,
		"WEIR_SECRET_KEY_FILE=" + filepath.Join(home, "secret.key"), "WEIR_DATA=" + filepath.Join(home, "data"), "WEIR_CONFIG=",
		"WEIR_DRAIN_DELAY=none", // there is no balancer to wait for
	}
	w.env = append(w.env, settings...)
	api := start(t, w.env, program, "server", "--listen", "127.0.0.1:0").line("API ")
	w.url = strings.TrimSuffix(api, "/api/v1/docs")
	return w
}

// agent starts a node that works on the database, and waits until it is known.
func (w *world) agent(node string, args ...string) *process {
	w.t.Helper()
	p := start(w.t, w.env, program, append([]string{"agent", "--node", node, "--dir", w.t.TempDir()}, args...)...)
	p.line("Agent of node " + node)
	w.eventually("node "+node, `select exists (select from weir.node n where n.name = $1 and n.seen_at > clock_timestamp() - interval '10 s')`, node)
	return p
}

// remoteAgent starts a node that has a token of the server and no database.
func (w *world) remoteAgent(node string, args ...string) *process {
	w.t.Helper()
	token := strings.TrimSpace(w.weir("join", "create", "--node", node, "--any"))
	home := w.t.TempDir()
	env := []string{"HOME=" + home, "WEIR_DATA=" + home, "WEIR_SERVER=" + w.url}
	p := start(w.t, env, program, append([]string{"agent", "--node", node, "--dir", filepath.Join(home, "agent"), "--join", token}, args...)...)
	p.line("Agent of node " + node)
	w.eventually("node "+node, `select exists (select from weir.node n where n.name = $1)`, node)
	return p
}

// weir runs a command that must succeed and gives what it prints.
func (w *world) weir(args ...string) string {
	w.t.Helper()
	said, code := w.try(args...)
	if code != 0 {
		w.t.Fatalf("weir %s: exit code %d\n%s", strings.Join(args, " "), code, said)
	}
	return said
}

// try runs a command and gives what it prints and its exit code.
func (w *world) try(args ...string) (said string, code int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	cmd.Env = append(os.Environ(), w.env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// ask reads one value.
func ask[T any](w *world, sql string, args ...any) (value T) {
	w.t.Helper()
	if err := w.db.Pool.QueryRow(w.t.Context(), sql, args...).Scan(&value); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// eventually polls a query that answers yes or no.
func (w *world) eventually(what, sql string, args ...any) {
	w.t.Helper()
	testwait.Until(w.t, what, func() bool { return ask[bool](w, sql, args...) })
}

// newest is the job of a workflow that was made last.
func (w *world) newest(workflow string) string {
	w.t.Helper()
	return ask[string](w, `select id::text from weir.job where name = $1 order by created_at desc limit 1`, workflow)
}

// ends waits for the end of a job and gives its state and that of its tasks, one
// line each: key, state, result.
func (w *world) ends(job string) (state, tasks string) {
	w.t.Helper()
	w.eventually("the end of job "+job, `select finished_at is not null from weir.job where id = $1::uuid`, job)
	return ask[string](w, `select state from weir.job where id = $1::uuid`, job), ask[string](w, `
		select string_agg(concat_ws(' ', key, state, result), E'\n' order by position, key) from weir.task where job = $1::uuid`, job)
}

// artifacts are the names of what a job left, each with the step that did.
func (w *world) artifacts(job string) string {
	w.t.Helper()
	return ask[string](w, `select coalesce(string_agg(q.key || '/' || a.name, ' ' order by q.key, a.name), '') from weir.artifacts a join weir.tasks q on q.id = a.task
		where a.job = $1::uuid and a.kind = 'output'`, job)
}

// write puts a text into a file of a folder that goes with the test.
func (w *world) write(name, text string, mode os.FileMode) (path string) {
	w.t.Helper()
	path = filepath.Join(w.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// param writes a param as the command line takes it.
func param(name string, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("--param=%s=%s", name, text)
}
