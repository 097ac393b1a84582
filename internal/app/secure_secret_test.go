package app

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/testwait"
)

// into reads JSON.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		t.Fatalf("status %d: %v: %.300s", r.StatusCode, err, r.body)
	}
}

// works says that the agent of the server can start processes.
func (f *fort) works() {
	f.t.Helper()
	testwait.Until(f.t, "the agent of the server is there", func() bool {
		return f.text(`select count(*)::text from weir.nodes where 'exec' = any (drivers)`) == "1"
	})
}

// define stores a workflow.
func (f *fort) define(who way, source string) {
	f.t.Helper()
	got := f.ask("PUT", apiPrefix+"/workflows", who, object("source", source))
	if got.StatusCode/100 != 2 {
		f.t.Fatalf("store a workflow: status %d: %s", got.StatusCode, got.body)
	}
}

// start runs a workflow and returns the job.
func (f *fort) start(who way, workflow string, params map[string]any) (job string) {
	f.t.Helper()
	var made struct{ ID string }
	f.wants(http.StatusCreated, "POST", apiPrefix+"/workflows/"+workflow+"/run", who, object("params", params)).into(f.t, &made)
	return made.ID
}

// ended waits for a job.
func (f *fort) ended(job string) {
	f.t.Helper()
	testwait.Until(f.t, "the job has ended", func() bool {
		return f.text(`select state from weir.job where id = $1`, job) != "live" && f.text(`select count(*)::text from weir.job_finished where job = $1`, job) == "1"
	})
}

// of is the task of a step.
func (f *fort) of(job, key string) string {
	f.t.Helper()
	return f.text(`select id::text from weir.tasks where job = $1 and key = $2`, job, key)
}

// loud is work that says its secret in every way it can. The last line of its
// errors is cut in the middle of the secret, and so is a line that is too long.
const loud = `
test "$TOKEN" = "$(cat "$WEIR_SECRETS/key.txt")" || exit 9
until test -e "$GO"; do sleep 0.05; done
printf 'clear %s\n' "$TOKEN"
printf '%s' "$TOKEN" | base64
printf '%s' "user:$TOKEN" | base64 -w 0; echo
printf '%s' "$TOKEN" | od -An -v -tx1 | tr -d ' \n'; echo
cat "$WEIR_SECRETS/key.txt"; echo
yes "$TOKEN" | head -n 4000 | tr -d '\n'; echo
printf '::event warn it is %s\n' "$TOKEN"
printf '::%s\n' "$TOKEN"
printf '::result {"clear": "%s", "escaped": "%s", "%s": 1}\n' "$TOKEN" "$ESCAPED" "$TOKEN"
mkdir "$WEIR_OUT/ok" "$WEIR_OUT/$TOKEN"
echo fine >"$WEIR_OUT/ok/file.txt"
echo 1 >"$WEIR_OUT/$TOKEN/file.txt"
echo 2 >"$WEIR_OUT/$TOKEN.txt"
env | grep -v '^TOKEN=' >"$WEIR_OUT/environ.txt"
stat -c '%a %n' . .. ../state ../attempt.json out params.json secrets secrets/key.txt >"$WEIR_OUT/modes.txt"
printf '%*s%s\n' 2030 x "$TOKEN" >&2
exit "$CODE"
`

// secretRun is a server on which work is loud about a secret.
type secretRun struct {
	*fort
	data, gate, secret string
	canaries           canaries
	who                way
}

func loudRun(t *testing.T) *secretRun {
	t.Helper()
	// What the server itself is given in its environment is not for the work.
	t.Setenv("WEIR_DATABASE_URL", "postgres://weir:canary-database-in-environ@127.0.0.1/none")
	t.Setenv("WEIR_OIDC_CLIENT_SECRET", "canary-oidc-secret-in-environ")
	t.Setenv("PGPASSWORD", "canary-pgpassword-in-environ")
	r := &secretRun{data: t.TempDir(), gate: filepath.Join(t.TempDir(), "go")}
	r.fort = besiege(t, func(c *Config, _ *Options) { c.Data = r.data })
	// 47 bytes: where a line is cut at 80 KiB, nearly all of one is left.
	r.secret = "canary&run+secret=4711-abcdefghijklmnopqrstuvwx"
	if len(r.secret) != 47 {
		t.Fatalf("the secret has %d bytes", len(r.secret))
	}
	r.canaries = canaries{
		"secret": r.secret, "database in the environment": "canary-database-in-environ",
		"OIDC secret in the environment": "canary-oidc-secret-in-environ", "password in the environment": "canary-pgpassword-in-environ",
	}
	r.person(auth.Admin)
	r.add("second", auth.Viewer)
	token, _ := r.token("the-admin", "*:*")
	r.who = bearer(token)
	return r
}

// run lets the work loose, once while somebody looks at all arguments.
func (r *secretRun) run() (job string) {
	r.t.Helper()
	r.works()
	r.wants(http.StatusNoContent, "PUT", apiPrefix+"/secrets/CANARY", r.who, object("value", r.secret, "note", "for the mine"))
	escaped := ""
	for _, c := range []byte(r.secret) {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	script, err := json.Marshal(loud)
	if err != nil {
		r.t.Fatal(err)
	}
	steps := ""
	for key, code := range map[string]string{"works": "0", "fails": "3"} {
		steps += fmt.Sprintf("  - key: %s\n    run: {argv: [sh, -c, %s], env: {GO: '%s', ESCAPED: '%s', CODE: '%s'}}\n    secrets: {TOKEN: CANARY}\n    files: {key.txt: CANARY}\n    retry: {max_attempts: 1}\n",
			key, script, r.gate, escaped, code)
	}
	r.define(r.who, "name: loud\nsteps:\n"+steps)
	job = r.start(r.who, "loud", nil)
	testwait.Until(r.t, "both run", func() bool {
		return r.text(`select count(*)::text from weir.running where job = $1 and started`, job) == "2"
	})
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		r.t.Fatalf("no process was found: %v", err)
	}
	seen := false
	for _, path := range lines {
		line, _ := os.ReadFile(path) // it may have ended
		r.canaries.in(r.t, "the command line of a process", string(line))
		seen = seen || strings.Contains(string(line), "until test -e")
	}
	if !seen {
		r.t.Error("the work was not among the processes")
	}
	if err := os.WriteFile(r.gate, nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.ended(job)
	return job
}

// A step says its secret in every way it can: in its log in several forms, in
// its result, in an event, in its error, in the names of files. It is in no
// table, no object, no log, no answer and no argument.
func TestSecureSecretRun(t *testing.T) {
	r := loudRun(t)
	job := r.run()
	r.tables(r.canaries)
	r.canaries.in(t, "the log of the server", r.log.String())
	logs := map[string]string{} // by attempt; where a step is slow, its log is in several objects
	unpacked, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	err = filepath.WalkDir(r.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.HasPrefix(path, filepath.Join(r.data, "bucket", "logs")) {
			if plain, bad := unpacked.DecodeAll(text, nil); bad == nil { // a short one is not compressed
				text = plain
			}
			logs[filepath.Dir(path)] += string(text)
		}
		r.canaries.in(t, path, path+"\n"+string(text))
		return err
	})
	if err != nil || len(logs) != 2 {
		t.Errorf("%d logs were looked at: %v", len(logs), err)
	}
	for path, text := range logs {
		if !strings.Contains(text, "clear ***") {
			t.Errorf("%s does not hold what was masked: %.300s", path, text)
		}
	}
	works, fails := r.of(job, "works"), r.of(job, "fails")
	for _, path := range []string{
		"/jobs/" + job, "/jobs/" + job + "/tasks", "/jobs/" + job + "/graph", "/jobs/" + job + "/artifacts", "/jobs/" + job + "/why", "/secrets", "/workflows/loud", "/workflows", "/timeline",
		"/tasks/" + works, "/tasks/" + works + "/events", "/tasks/" + works + "/log", "/tasks/" + works + "/artifacts", "/tasks/" + fails, "/tasks/" + fails + "/events", "/tasks/" + fails + "/log", "/tasks/" + fails + "/attempts",
	} {
		r.canaries.in(t, path, r.wants(http.StatusOK, "GET", apiPrefix+path, r.who).body)
	}
	cookie := with(r.login("the-admin"))
	for _, path := range []string{"/secrets", "/jobs/" + job, "/jobs/" + job + "/artifacts", "/tasks/" + works, "/tasks/" + fails, "/tasks/" + fails + "/output", "/timeline", "/workflows/loud", "/workflows/loud/source"} {
		r.canaries.in(t, path, r.wants(http.StatusOK, "GET", path, cookie).body)
	}
	r.told(job, works, fails)
}

// told looks whether all that should be told was told, without the secret, and
// what the work found around itself.
func (r *secretRun) told(job, works, fails string) {
	r.t.Helper()
	if got := r.text(`select result::text from weir.task where id = $1`, works); got != `{"***": 1, "clear": "***", "escaped": "***"}` {
		r.t.Errorf("the result is %s", got)
	}
	if got := r.text(`select coalesce(cause, '') from weir.finished where task = $1`, fails); !strings.Contains(got, "exit code 3") || !strings.Contains(got, "*") {
		r.t.Errorf("the error is %q", got)
	}
	for _, said := range []string{"it is ***", "their names hold a secret"} {
		if r.text(`select count(*)::text from weir.events where task = $1 and message like '%' || $2 || '%'`, works, said) == "0" {
			r.t.Errorf("no event says %q", said)
		}
	}
	if got := r.text(`select string_agg(name, ' ' order by name) from weir.artifacts where task = $1`, works); got != "environ.txt modes.txt ok/file.txt" {
		r.t.Errorf("kept are %s", got)
	}
	content := func(name string) []string {
		id := r.text(`select id::text from weir.artifacts where task = $1 and name = $2`, works, name)
		return strings.Split(strings.TrimSpace(r.wants(http.StatusOK, "GET", apiPrefix+"/artifacts/"+id+"/content", r.who).body), "\n")
	}
	given := []string{
		"GO", "ESCAPED", "CODE", "PATH", "HOME", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_", "WEIR_TASK_ID", "WEIR_JOB_ID", "WEIR_TASK_KEY", "WEIR_SERVICE", "WEIR_NODE", "WEIR_ATTEMPT", "WEIR_FENCE",
		"WEIR_PARAMS", "WEIR_OUT", "WEIR_IN", "WEIR_SECRETS",
	}
	for _, line := range content("environ.txt") {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains(given, name) {
			r.t.Errorf("the work was given %s", line)
		}
	}
	modes := content("modes.txt")
	want := []string{"700 .", "711 ..", "700 ../state", "600 ../attempt.json", "700 out", "600 params.json", "700 secrets", "600 secrets/key.txt"}
	if !slices.Equal(modes, want) {
		r.t.Errorf("the folder of the attempt has the modes %q", modes)
	}
	for path, want := range map[string]fs.FileMode{"secret.key": 0o600, "agent": 0o700} {
		if info, err := os.Stat(filepath.Join(r.data, path)); err != nil || info.Mode().Perm() != want {
			r.t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.data, "agent", "*", "attempts", "*"))
	if err != nil || len(left) > 0 {
		testwait.Until(r.t, "the folders of attempts are gone", func() bool {
			left, _ = filepath.Glob(filepath.Join(r.data, "agent", "*", "attempts", "*"))
			return len(left) == 0
		})
	}
}

// What people give to a run is data: it stays one argument, whatever is in it.
// A leading dash is one too; that programs may take it for an option is said in
// docs/security.md.
func TestSecureArguments(t *testing.T) {
	f := besiege(t)
	f.person(auth.Admin)
	token, _ := f.token("the-admin", "*:*")
	who := bearer(token)
	f.works()
	f.define(who, `name: args
params: {x: {type: string}, list: {type: array}}
steps:
  - key: one
    run: [sh, -c, 'printf "[%s]" "$#" "$@"; echo', sh, "{{ .params.x }}", "a{{ .params.x }}b"]
  - key: each
    map: {over: params.list}
    run: [sh, -c, 'printf "[%s]" "$#" "$@"; echo', sh, "{{ .item }}"]
`)
	evil := []string{`a b`, `"; id #`, `$(id) ${HOME} *`, `'; id; '`, `{{ .params.list }}`, `--output=/etc/passwd`, "two\nlines", `\`, ``}
	x := strings.Join(evil[:7], " ")
	job := f.start(who, "args", map[string]any{"x": x, "list": evil})
	f.ended(job)
	text := func(key string) string {
		var all []string
		for _, line := range strings.Split(strings.TrimSpace(f.wants(http.StatusOK, "GET", apiPrefix+"/tasks/"+f.of(job, key)+"/log", who).body), "\n") {
			var l struct{ Text string }
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			all = append(all, l.Text)
		}
		return strings.Join(all, "\n")
	}
	if got, want := text("one"), "[2]["+x+"][a"+x+"b]"; got != want {
		t.Errorf("the arguments were %q, not %q", got, want)
	}
	for i, item := range evil {
		if got, want := text(fmt.Sprintf("each[%d]", i)), "[1]["+item+"]"; got != want {
			t.Errorf("item %d: the arguments were %q, not %q", i, got, want)
		}
	}
}
