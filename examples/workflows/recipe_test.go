package workflows_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testdb"
)

func backup(k *kitchen) {
	shop := testdb.NewEmpty(k.t)
	if _, err := shop.Pool.Exec(k.t.Context(), `create table orders as select generate_series(1, 3) as id`); err != nil {
		k.t.Fatal(err)
	}
	c, err := pgx.ParseConfig(testdb.URL(k.t))
	if err != nil {
		k.t.Fatal(err)
	}
	k.secret("backup_password", c.Password+"\n")
	folder := k.t.TempDir()
	k.file(folder, "20200101T000000.dump", "old")
	k.file(folder, "20200102T000000.dump", "old")
	params := []string{
		"host=" + c.Host, fmt.Sprint("port=", c.Port), "user=" + c.User, "database=" + shop.Pool.Config().ConnConfig.Database,
		"folder=" + folder, "keep=2",
	}
	k.cook(0, append([]string{"run", recipe("postgres-backup"), "--watch", "--param=check=select count(*) from orders"}, flags(params)...)...)
	job := k.newest("postgres-backup")
	if _, tasks := k.ends(job); !strings.Contains(tasks, "verify done {\"rows\": 3}\nprune done {\"dumps\": 2}\ndrop-scratch done") {
		k.t.Errorf("the tasks are\n%s", tasks)
	}
	k.logged(job, "prune", "deleted 20200101T000000.dump")
	if files := k.files(folder); !strings.HasPrefix(files, "20200102T000000.dump ") || strings.Contains(files, "20200101") {
		k.t.Errorf("the folder has %s", files)
	}

	// A dump with nothing in it deletes no older one, and leaves no database behind.
	k.cook(1, append([]string{"run", recipe("postgres-backup"), "--watch", "--param=check=select count(*) from orders where id > 3"}, flags(params)...)...)
	job = k.newest("postgres-backup")
	if _, tasks := k.ends(job); !strings.Contains(tasks, "verify failed\nprune skipped\ndrop-scratch done") {
		k.t.Errorf("the tasks are\n%s", tasks)
	}
	k.why(job+"/prune", "skipped: need verify is failed")
	if !strings.Contains(k.files(folder), "20200102T000000.dump") {
		k.t.Error("an old dump is gone")
	}
	if n := ask[int](k.world, `select count(*) from pg_database where datname like 'restored_' || $1`, job); n > 0 {
		k.t.Error("the scratch database is left")
	}
}

// flags are params as the command line takes them.
func flags(params []string) (args []string) {
	for _, p := range params {
		args = append(args, "--param", p)
	}
	return args
}

func renderFrames(k *kitchen) {
	scene := k.t.TempDir()
	for _, frame := range []string{"1", "2", "4"} {
		k.file(scene, frame, "frame "+frame+"\n")
	}
	job := k.run("render-frames", 1, `
frame failed
encode skipped
frame[0] done
frame[1] done
frame[2] failed
frame[3] done`, "scene="+scene, "frames=4", "renderer="+k.tool("render-frame"), "encoder="+k.tool("encode-film"))
	k.why(job+"/encode", "skipped: need frame is failed")
	k.why(job+"/frame[2]", "frame 3 is not in scene")

	// The frames that are done are not rendered again.
	k.file(scene, "3", "frame 3\n")
	k.file(scene, "1", "another frame\n")
	k.cook(0, "job", "rerun", job, "--failed", "--watch")
	job = k.newest("render-frames")
	k.tasks(job, `
frame done {"items": [null, null, null, null], "failed": 0}
encode done {"bytes": 68, "frames": 4}
frame[0] done
frame[1] done
frame[2] done
frame[3] done`)
	if film := k.cook(0, "artifact", "get", job+"/encode/film.mp4", "--to", "-"); film != "rendered frame 1\nrendered frame 2\nrendered frame 3\nrendered frame 4\n" {
		k.t.Errorf("the film is\n%s", film)
	}
}

func etlPartition(k *kitchen) {
	source, target := k.t.TempDir(), k.t.TempDir()
	k.file(source, "2026-07-09/a.csv", "x,1\ny,2\n")
	k.file(source, "2026-07-09/b.csv", "z,3\n")
	k.file(source, "2026-07-10/a.csv", "x,4\n")
	k.file(source, "2026-07-10/b.csv", "broken\n")
	k.cook(0, "workflow", "apply", recipe("etl-partition"))
	backfill := []string{
		"workflow", "backfill", "etl-partition", "--schedule", "workflow/etl-partition/nightly", "--from", "2026-07-10", "--to", "2026-07-12",
		"--param", "source=" + source, "--param", "target=" + target,
	}
	// A second time makes no second jobs.
	first, again := k.cook(0, backfill...), k.cook(0, backfill...)
	if again != strings.Replace(first, "2 jobs made, 0 existed", "0 jobs made, 2 existed", 1) || again == first {
		k.t.Errorf("the first backfill made\n%s\nthe second\n%s", first, again)
	}
	of := func(at string) string {
		return ask[string](k.world, `select id::text from weir.job where name = 'etl-partition' and scheduled_at = $1::timestamptz`, at)
	}
	k.tasks(of("2026-07-10 00:30+02"), `
list done {"files": ["a.csv", "b.csv"]}
load done {"items": [{"rows": 2}, {"rows": 1}], "failed": 0}
publish done {"day": "2026-07-09", "total": 6}
load[0] done {"rows": 2}
load[1] done {"rows": 1}`)
	broken := of("2026-07-11 00:30+02")
	k.tasks(broken, `
list done {"files": ["a.csv", "b.csv"]}
load done {"items": [{"rows": 1}, null], "failed": 1}
publish skipped
load[0] done {"rows": 1}
load[1] skipped`)
	k.why(broken+"/publish", "when is false: needs.load.result.failed == 0")
	k.why(broken+"/load[1]", "line 1 has 1 fields")
	if total := k.content(target, "2026-07-09", "_total"); total != "6\n" {
		k.t.Errorf("the total is %s", total)
	}
	if files := k.files(filepath.Join(target, "2026-07-10")); strings.Contains(files, "_total") {
		k.t.Errorf("a day that is not whole is published: %s", files)
	}
}

func evalSweep(k *kitchen) {
	job := k.run("eval-sweep", 0, `
evaluate done {"items": [{"model": "small", "score": 0.61}, {"model": "small", "score": 0.58}, {"model": "large", "score": 0.83}], "failed": 0}
choose done {"model": "large", "score": 0.83, "temperature": 0.7}
report done
evaluate[small,0] done {"model": "small", "score": 0.61}
evaluate[small,0.7] done {"model": "small", "score": 0.58}
evaluate[large,0.7] done {"model": "large", "score": 0.83}`, "evaluator="+k.tool("evaluate"))
	k.said.WriteString(k.log(job, "choose"))
	k.logged(job, "choose", "0.83 large 0.7\n0.61 small 0\n0.58 small 0.7\n")
	k.logged(job, "report", "large is good enough")
	k.cook(0, "run", recipe("eval-sweep"), "--watch", "--param", "evaluator="+k.tool("evaluate"), "--param", "threshold=0.9")
	job = k.newest("eval-sweep")
	k.why(job+"/report", "when is false: needs.choose.result.score >= params.threshold")

	// A step with a mistake is mended; what was evaluated before is used again.
	const right, wrong = `sort -rn "$WEIR_IN"/evaluate*/score.txt`, `sort -rn "$WEIR_IN"/evaluate/score.txt`
	k.changed("eval-sweep", right, wrong)
	k.cook(1, "run", "eval-sweep", "--watch", "--param", "evaluator="+k.tool("evaluate"))
	job = k.newest("eval-sweep")
	k.why(job+"/report", "skipped: need choose is failed")
	k.weir("workflow", "apply", recipe("eval-sweep"))
	plan := k.cook(0, "job", "rerun", job, "--failed", "--newest", "--dry-run")
	k.cook(0, "job", "rerun", job, "--failed", "--newest", "--watch")
	again := k.newest("eval-sweep")
	if _, tasks := k.ends(again); !strings.Contains(tasks, `choose done {"model": "large", "score": 0.83, "temperature": 0.7}`) {
		k.t.Errorf("the tasks are\n%s\nafter the plan\n%s", tasks, plan)
	}
	if ran := ask[string](k.world, `select string_agg(distinct key, ' ' order by key) from weir.event v join weir.task q on q.id = v.task
		where q.job = $1::uuid and v.type = 'started'`, again); ran != "choose report" {
		k.t.Errorf("the steps that ran are %q", ran)
	}
	if versions := ask[string](k.world, `select string_agg(d.version::text, ' ' order by j.created_at) from weir.job j
		join flow.workflows d on d.id = j.definition where j.id in ($1::uuid, $2::uuid)`, job, again); versions != "2 3" {
		k.t.Errorf("the versions are %s", versions)
	}
}

func release(k *kitchen) {
	folder := k.t.TempDir()
	k.secret("publish_token", "tok-of-the-registry\n")
	refused := k.begin("release", "version=1.4.0", "folder="+folder)
	k.waits(refused, "publish", "hold")
	k.why(refused+"/publish", "waits for approval: publish 1.4.0, sha256 ", "may decide: role:maintainer")
	k.cook(0, "task", "refuse", refused+"/publish", "--reason", "the changelog is missing")
	if state, _ := k.ends(refused); state != "failed" {
		k.t.Errorf("the job is %s", state)
	}
	k.why(refused+"/publish", "refused by ", "the changelog is missing")
	k.logged(refused, "announce", "release 1.4.0 is failed")
	if files := k.files(folder); files != "" {
		k.t.Errorf("%s is published", files)
	}

	job := k.begin("release", "version=1.4.1", "folder="+folder)
	k.waits(job, "publish", "hold")
	k.cook(0, "task", "release", job+"/publish", "--reason", "smoke tests are green")
	if state, _ := k.ends(job); state != "done" {
		k.t.Errorf("the job is %s", state)
	}
	k.said.WriteString(k.log(job, "publish"))
	k.logged(job, "publish", "published 1.4.1 with ***")
	if files := k.files(folder); files != "release-1.4.1.tar" {
		k.t.Errorf("the folder has %s", files)
	}
	k.cook(3, "run", recipe("release"), "--param", "version=latest")

	// A decision that does not come in time is no decision.
	k.changed("release", "expires: 24h", "expires: 1s")
	k.cook(1, "run", "release", "--watch", "--param", "version=1.4.2", "--param", "folder="+folder)
	k.why(k.newest("release")+"/publish", "failed: ")
	if files := k.files(folder); files != "release-1.4.1.tar" {
		k.t.Errorf("the folder has %s", files)
	}
}

func importOnEvent(k *kitchen) {
	inbox := k.t.TempDir()
	k.file(inbox, "acme/a.csv", "1\n2\n")
	k.file(inbox, "acme/b.csv", "3\n")
	job := k.begin("import-on-event", "inbox="+inbox)
	k.waits(job, "delivery", "hold")
	k.why(job+"/delivery", "waits for the event delivery")
	k.cook(0, "job", "signal", job, "delivery", "--payload", `{"files": ["a.csv", "c.csv"]}`)
	if state, _ := k.ends(job); state != "failed" {
		k.t.Errorf("the job is %s", state)
	}
	k.logged(job, "complain", "to acme: a file could not be imported")

	// The partner has a link and no account.
	job = k.begin("import-on-event", "inbox="+inbox)
	k.waits(job, "delivery", "hold")
	link := strings.TrimSpace(k.weir("task", "link", job+"/delivery"))
	answer, err := http.Post(k.url+link, "application/json", strings.NewReader(`{"payload": {"files": ["a.csv", "b.csv"]}}`))
	if err != nil {
		k.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		k.t.Fatalf("the link answers %s", answer.Status)
	}
	k.tasks(job, `
order done
delivery done {"files": ["a.csv", "b.csv"]}
import done {"items": [{"file": "a.csv", "rows": 2}, {"file": "b.csv", "rows": 1}], "failed": 0}
complain skipped
import[0] done {"file": "a.csv", "rows": 2}
import[1] done {"file": "b.csv", "rows": 1}`)

	// A partner who does not deliver.
	k.changed("import-on-event", "timeout: 3d", "timeout: 1s")
	k.cook(1, "run", "import-on-event", "--watch")
	job = k.newest("import-on-event")
	k.why(job+"/import", "skipped: need delivery is failed")
	k.said.WriteString(k.log(job, "complain"))
	k.logged(job, "complain", "to acme: ")
}

func certificate(k *kitchen) {
	folder, firewall := k.t.TempDir(), filepath.Join(k.t.TempDir(), "firewall")
	params := []string{"domain=www.example.org", "folder=" + folder, "issue=" + k.tool("issue-certificate"), "firewall=" + k.write("firewall", "#!/bin/sh\necho $1 >>'"+firewall+"'\n", 0o700)}
	k.run("certificate", 0, "look done {\"renew\": true}\nrenew done\nreload done\nput-back skipped\nclose-firewall done", params...)
	if said := k.content(firewall); said != "open\nclose\n" {
		k.t.Errorf("the firewall was told %q", said)
	}
	fresh := k.content(folder, "cert.pem")
	if !strings.HasPrefix(fresh, "-----BEGIN CERTIFICATE-----") {
		k.t.Errorf("the certificate is %s", fresh)
	}
	job := k.run("certificate", 0, "look done {\"renew\": false}\nrenew skipped\nreload skipped\nput-back skipped\nclose-firewall done", params...)
	k.why(job+"/renew", "when is false: needs.look.result.renew")

	// The service does not take the new one.
	job = k.run("certificate", 1, "look done {\"renew\": true}\nrenew done\nreload failed\nput-back done\nclose-firewall done", append(params, "days=400", "reload=false")...)
	k.why(job, "failed: reload: exit code 1")
	k.logged(job, "put-back", "the old certificate is back")
	if k.content(folder, "cert.pem") != fresh {
		k.t.Error("the certificate that does not work is left")
	}
}

func patchMachines(k *kitchen) {
	k.cook(0, "pool", "set", "patching", "--size", "1")
	log := filepath.Join(k.t.TempDir(), "log")
	patch := k.write("patch", "#!/bin/sh\nset -eu\necho \"begin $1 on $WEIR_NODE\" >>'"+log+"'\nsleep 0.2\necho end >>'"+log+"'\ntest ! -e '"+log+".broken'\n", 0o700)
	k.run("patch-machines", 0, `
canary done
others done {"items": [null, null], "failed": 0}
report done
others[0] done
others[1] done`, `machines=["web-1", "web-2", "web-1"]`, "command="+patch)
	said := k.content(log)
	if n := strings.Count(said, "begin "); n != 3 || !strings.HasPrefix(said, "begin web-1 on web-1\nend\nbegin ") || strings.Contains(said, "on web-2\nbegin") ||
		strings.Contains(said, "on web-1\nbegin") || !strings.Contains(said, "begin web-2 on web-2\n") {
		k.t.Errorf("the machines were patched as\n%s", said)
	}

	// A machine that is not there has its turn, and the ones behind it wait.
	job := k.begin("patch-machines", `machines=["web-1", "web-9", "web-2"]`, "command="+patch)
	k.eventually("the turn of web-9", `select exists (select from weir.task where job = $1::uuid and key = 'others[0]' and state = 'available')`, job)
	k.why(job+"/others[0]", "no live worker serves exec with labels node=web-9")
	k.waits(job, "others[1]", "pool")
	k.why(job+"/others[1]", "patching")
	k.cook(0, "task", "skip", job+"/others[0]", "--reason", "it is at the workshop")
	if state, tasks := k.ends(job); state != "done" || !strings.Contains(tasks, "others[0] skipped\nothers[1] done") {
		k.t.Errorf("the job is %s:\n%s", state, tasks)
	}

	// What the canary does not survive, no other machine gets.
	k.file(filepath.Dir(log), "log.broken", "")
	job = k.run("patch-machines", 1, "canary failed\nothers skipped\nreport done", `machines=["web-1", "web-2"]`, "command="+patch)
	k.logged(job, "report", "canary: failed, others: skipped")
}

func logCleanup(k *kitchen) {
	folder := filepath.Join(k.t.TempDir(), "logs; touch pwned")
	for _, name := range []string{"old one.log", "old.log", "old.txt", "new.log"} {
		k.file(folder, name, "x")
		if strings.HasPrefix(name, "old") {
			then := time.Now().AddDate(0, 0, -20)
			if err := os.Chtimes(filepath.Join(folder, name), then, then); err != nil {
				k.t.Fatal(err)
			}
		}
	}
	job := k.run("log-cleanup", 0, `clean done {"old": 2, "deleted": false}`, "folder="+folder)
	if list := k.cook(0, "artifact", "get", job+"/clean/old.txt", "--to", "-"); !strings.Contains(list, "./old one.log\n") {
		k.t.Errorf("the list is %q", list)
	}
	k.run("log-cleanup", 0, `clean done {"old": 2, "deleted": true}`, "folder="+folder, "delete=true")
	if files := k.files(folder); files != "new.log old.txt" {
		k.t.Errorf("the folder has %s", files)
	}
	k.cook(1, "run", recipe("log-cleanup"), "--watch", "--param", "folder="+folder+"/none")
	k.why(k.newest("log-cleanup")+"/clean", "can't cd to")
	k.cook(3, "run", recipe("log-cleanup"), "--param", "days=0")
}

// uploadCheck needs an agent with Docker and the image of wordcount.
func uploadCheck(t *testing.T, w *world) {
	t.Helper()
	k := &kitchen{world: w}
	folder := t.TempDir()
	k.file(folder, "upload.txt", "three \"plain\" words\n")
	params := []string{"file=" + filepath.Join(folder, "upload.txt"), "folder=" + filepath.Join(folder, "published")}
	k.run("upload-check", 0, "receive done {\"text\": \"three plain words \"}\nexamine done {\"words\": 3}\npublish done", params...)
	if words := k.content(folder, "published", "words.txt"); words != "three\nplain\nwords\n" {
		t.Errorf("the words are %q", words)
	}
	job := k.run("upload-check", 0, "receive done {\"text\": \"three plain words \"}\nexamine done {\"words\": 3}\npublish skipped", append(params, "most=2")...)
	k.why(job+"/publish", "when is false: needs.examine.result.words <= params.most")
	k.shown("upload-check")
}

// lab is a PC with three devices, from the token to the table of results.
func lab(k *kitchen) {
	token := strings.TrimSpace(k.weir("join", "create", "--node", "PC-01", "--any"))
	home := k.t.TempDir()
	env := []string{"HOME=" + home, "WEIR_DATA=" + home, "WEIR_SERVER=" + k.url}
	start(k.t, env, program, "agent", "--pc", "PC-01", "--slots", "3", "--devices", "../lab/devices.yaml", "--dir", filepath.Join(home, "agent"), "--join", token).
		line("Agent of node PC-01")
	k.eventually("three devices", `select count(*) = 3 from weir.devices where online`)
	k.cook(0, "device", "list")
	k.cook(0, "fleet", "policy", "--health-timeout", "1m", "--", "sh", "-c", `test -n "$WEIR_DEVICE_TARGET"`)

	const smoke = "../lab/smoke.yaml"
	k.cook(0, "fleet", "run", smoke, "--watch")
	k.junit(2)
	k.cook(0, "fleet", "results", "smoke")
	if health := k.health(); health != "PHONE-1 good, PHONE-2 good, PHONE-3 good" {
		k.t.Errorf("after the health task: %s", health)
	}

	// A build that fails everywhere is the fault of the build.
	k.cook(1, "fleet", "run", smoke, "--watch", "--name", "red", "--env", "BUILD=red")
	k.junit(4)
	k.cook(0, "fleet", "results", "red")
	k.cook(0, "device", "list")
	if health := k.health(); health != "PHONE-1 good, PHONE-2 good, PHONE-3 good" {
		k.t.Errorf("after the red build: %s", health)
	}

	k.cook(0, "device", "reserve", "PHONE-3", "--until", "1h", "--reason", "a crash in the camera")
	k.cook(0, "fleet", "run", smoke, "--watch", "--name", "again")
	k.cook(0, "fleet", "why", "again")
	k.cook(0, "device", "release", "PHONE-3")
	k.cook(0, "fleet", "rerun", "again", "--missed", "--watch")
	if health := k.health(); health != "PHONE-1 good, PHONE-2 good, PHONE-3 good" {
		k.t.Errorf("at the end: %s", health)
	}
}

// junit waits until so many JUnit files are read, which happens some seconds after they were uploaded.
func (k *kitchen) junit(n int) {
	k.t.Helper()
	k.eventually("the JUnit files", `select count(*) = $1 from weir.test_reports where due is null`, n)
}

// health is how the devices are.
func (k *kitchen) health() string {
	k.t.Helper()
	return ask[string](k.world, `select string_agg(serial || ' ' || health, ', ' order by serial) from weir.devices`)
}
