package pagetest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

// lab is a dashboard with PCs that report and claim by hand, as agents do.
type lab struct {
	testing.TB
	*webtest.Server
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{t, webtest.Start(t)}
	// One failure puts a device out, so that pages have something to show.
	l.Exec(t, `select weir.set_fleet_policy('{"policy": "strict"}')`)
	return l
}

// deviceLease is what a PC holds.
type deviceLease struct {
	Task    weir.ID
	Attempt int
	Token   weir.ID
	Serial  string
}

// report says which devices a PC sees, so many minutes ago.
func (l *lab) report(pc string, ago int, serials ...string) {
	l.Helper()
	devices := []node.Device{}
	for _, s := range serials {
		devices = append(devices, node.Device{Serial: s, Target: "10.0.0.7:5555", Hub: "hub <1>", Labels: map[string]string{"tag": "<b>red</b>"}})
	}
	text, err := json.Marshal(devices)
	if err != nil {
		l.Fatal(err)
	}
	if _, err := l.DB.Pool.Exec(l.Context(), `select weir.fleet_report($1, $2, at => now() - make_interval(mins => $3))`, pc, text, ago); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) submit(s fleet.Spec) fleet.Job {
	l.Helper()
	s.Run, s.Target = node.Run{Argv: []string{"true"}}, fleet.Target{All: true}
	j, err := l.Fleets.Submit(l.Context(), "ann", s, "")
	if err != nil {
		l.Fatal(err)
	}
	return j
}

func (l *lab) claim(pc string, most int) []deviceLease {
	l.Helper()
	rows, err := l.DB.Pool.Query(l.Context(), `select task, attempt, token, serial from weir.fleet_claim('agent ' || $1, $1, $2, lease => '10 min')`, pc, most)
	if err != nil {
		l.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deviceLease])
	if err != nil || len(list) != most {
		l.Fatalf("%s claims %d of %d: %v", pc, len(list), most, err)
	}
	l.AtEnd(func() {
		_, _ = l.DB.Pool.Exec(context.Background(), `select weir.stop_worker('agent ' || $1)`, pc) // it may be gone
	})
	return list
}

func (l *lab) fail(d deviceLease, why string) {
	l.Helper()
	var answer string
	if err := l.DB.Pool.QueryRow(l.Context(), `select weir.fail($1, $2, $3, $4)`, d.Task, d.Attempt, d.Token, why).Scan(&answer); err != nil || answer != "ok" {
		l.Fatal(answer, err)
	}
}

func (l *lab) finish(leases ...deviceLease) {
	l.Helper()
	for _, d := range leases {
		var answer string
		if err := l.DB.Pool.QueryRow(l.Context(), `select weir.finish($1, $2, $3)`, d.Task, d.Attempt, d.Token).Scan(&answer); err != nil || answer != "ok" {
			l.Fatal(answer, err)
		}
	}
}

// cells counts the cells of a kind.
func cells(a webtest.Answer, kind string) int {
	return strings.Count(a.Body, `data-kind="`+kind+`"`)
}

// Why a PC, a device and a fleet job wait is said in the reader's language.
func TestFleetReasonsInKorean(t *testing.T) {
	l := newLab(t)
	l.report("PC-01", 30, "d1")
	l.report("PC-02", 0, "d2")
	if _, err := l.DB.Pool.Exec(t.Context(), `select weir.set_slots('PC-02', 0)`); err != nil {
		t.Fatal(err)
	}
	job := l.submit(fleet.Spec{Name: "night"})
	vera := l.Login(t, "vera", auth.Viewer)
	vera.Get(t, "/fleet/pcs").Is(t, 200).Has(t, "PC-02 has no slots", "PC-01 offline since")
	vera.Post(t, "/language", form("language", "ko", "back", "/fleet")).Is(t, 303)
	vera.Get(t, "/fleet/pcs").Is(t, 200).Has(t, "PC-02: 슬롯 없음").Lacks(t, "has no slots", "offline since")
	vera.Get(t, "/devices/d1").Is(t, 200).Has(t, "PC-01: ", "부터 오프라인").Lacks(t, "offline since")
	vera.Get(t, "/fleet/jobs/"+job.ID.String()).Is(t, 200).Has(t, "활성: 대기 2개", "PC-02: 슬롯 없음").Lacks(t, "has no slots", "active: ")
}

// The page of a device shows its power command, and its log when that ran.
func TestPowerCommandOfADevice(t *testing.T) {
	l := newLab(t)
	mia := l.Login(t, "mia", auth.Maintainer)
	l.report("PC-01", 0, "A1")
	mia.Get(t, "/devices/A1").Is(t, 200).Lacks(t, "Power command")
	mia.Post(t, "/fleet/policy/change", form("policy", "evidence", "slots", "5", "overlap", "yes",
		"health", `{"run": {"argv": ["./check"]}, "power": {"argv": ["./cycle", "<x>"]}}`)).Is(t, 303)
	mia.Post(t, "/devices/A1/quarantine", form("reason", "it hangs")).Is(t, 303)
	mia.Get(t, "/devices/A1").Is(t, 200).Has(t, "Power command", "./cycle &lt;x&gt;", "due now").Lacks(t, "power-cycled")
	l.claim("PC-01", 1)
	mia.Get(t, "/devices/A1").Is(t, 200).Has(t, `data-event="power"`, "power-cycled")
}

// Without PCs the pages say how to start an agent, in the reader's language; a server
// without a fleet says so.
func TestFleetEmpty(t *testing.T) {
	s := webtest.Start(t)
	vera := s.Login(t, "vera", auth.Viewer)
	for _, path := range []string{"/fleet", "/devices", "/fleet/pcs"} {
		vera.Get(t, path).Is(t, 200).Has(t, "No PC yet", "weir agent --pc PC-01 --simulate 5", `href="/fleet" aria-current`)
	}
	vera.Get(t, "/fleet/jobs").Is(t, 200).Has(t, "No fleet job yet", "weir fleet run")
	vera.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, "No device is out")
	vera.Get(t, "/fleet/policy").Is(t, 200).Has(t, "evidence").Lacks(t, "/fleet/policy/change")
	vera.Get(t, "/fleet?health=purple").Is(t, 422)
	vera.Get(t, "/devices/none").Is(t, http.StatusNotFound)
	vera.Get(t, "/fleet/jobs/none").Is(t, http.StatusNotFound)
	vera.Post(t, "/language", form("language", "ko", "back", "/fleet")).Is(t, 303)
	vera.Get(t, "/fleet").Is(t, 200).Has(t, `lang="ko"`, "아직 PC가 없습니다", "격리")

	off := webtest.Start(t, func(c *site.Config) { c.Fleets = nil })
	ada := off.Login(t, "ada", auth.Admin)
	ada.Get(t, "/fleet").Is(t, 200).Has(t, "This server keeps no fleet")
	ada.Get(t, "/devices/x").Is(t, http.StatusNotFound)
}

// The grid shows what runs, what waits and why a PC stands still; jobs, devices and
// the search lead to one another.
func TestFleetPages(t *testing.T) {
	l := newLab(t)
	vera := l.Login(t, "vera", auth.Viewer)
	l.report("PC-02", 5, "B1", "B2")
	l.report("PC-01", 0, "A1", "A2", "A3")
	active := l.submit(fleet.Spec{Name: "warm <b>up</b>", Attempts: 1})
	later := l.submit(fleet.Spec{Name: "later"})
	leases := l.claim("PC-01", 2)

	grid := vera.Get(t, "/fleet").Is(t, 200).Has(t, "PC-02 offline since", `data-pc="PC-01"`, "running / target / eligible", "/fleet/jobs/"+active.ID.String(), "warm &lt;b&gt;up", `data-running="2"`).Lacks(t, "<b>up")
	if cells(grid, "running") != 2 || cells(grid, "free") != 1 || cells(grid, "none") != 17+20 {
		t.Errorf("%d run, %d are free, %d have no device", cells(grid, "running"), cells(grid, "free"), cells(grid, "none"))
	}
	if n := strings.Count(grid.Body, `class="fleet-row`); n != 2 {
		t.Errorf("%d rows", n)
	}
	// Nothing has run on them to its end yet: their health is unknown.
	if some := vera.Get(t, "/fleet?health=unknown").Is(t, 200).Has(t, `data-pc="PC-01"`, `href="/devices/A3"`, `href="/devices/B1"`); cells(some, "unknown") != 5 {
		t.Errorf("%d devices", cells(some, "unknown"))
	}
	vera.Get(t, "/fleet?health=retired").Is(t, 200).Has(t, "Nothing matches")
	vera.Get(t, "/fleet?pc=pc-02").Is(t, 200).Has(t, `data-pc="PC-02"`).Lacks(t, `data-pc="PC-01"`)

	list := vera.Get(t, "/fleet/jobs").Is(t, 200).Has(t, "fleet-top", "later", `data-state="waiting"`)
	if top, rows := strings.Index(list.Body, active.ID.String()), strings.Index(list.Body, later.ID.String()); top < 0 || rows < top {
		t.Errorf("the active job is at %d, the next one at %d", top, rows)
	}
	vera.Get(t, "/fleet/jobs?state=waiting").Is(t, 200).Has(t, later.ID.String()).Lacks(t, active.ID.String())
	on := "/fleet/jobs/" + active.ID.String()
	vera.Get(t, on).Is(t, 200).Has(t, `data-count="running"`, "Why not yet", "PC-02 offline since", `href="/devices/B1"`, "Running now", "1 / 1").Lacks(t, on+"/cancel")
	vera.Get(t, on+"/units?state=running").Is(t, 200).Has(t, "/tasks/"+leases[0].Task.String(), leases[1].Serial).Lacks(t, "/devices/B1")
	vera.Get(t, on+"/units?state=nonsense").Is(t, 422)
	vera.Get(t, on+"/spec").Is(t, 200).Has(t, "snapshot", "attempts")
	vera.Get(t, "/fleet/jobs/"+later.ID.String()).Is(t, 200).Has(t, "is active since")

	if to := vera.Get(t, "/jobs/"+active.ID.String()).Is(t, 303).To(); to != on {
		t.Errorf("the job leads to %q", to)
	}
	vera.Get(t, "/jobs/"+active.ID.String()+"/timeline").Is(t, 200).Has(t, `href="`+on+`"`)
	vera.Get(t, "/jobs/"+later.ID.String()+"/timeline").Is(t, 200)
	vera.Get(t, "/jobs").Is(t, 200).Has(t, active.ID.String(), later.ID.String())
	vera.Get(t, "/").Is(t, 200)
	vera.Get(t, "/tasks/"+leases[0].Task.String()).Is(t, 200)
	if to := vera.Get(t, "/search?q="+active.ID.String()).To(); to != on {
		t.Errorf("the search for the job leads to %q", to)
	}
	if to := vera.Get(t, "/search?q=A3").To(); to != "/devices/A3" {
		t.Errorf("the search for a device leads to %q", to)
	}
	vera.Get(t, "/devices?search=a").Is(t, 200).Has(t, "/devices/A1", "/devices/A3").Lacks(t, "/devices/B1")
	vera.Get(t, "/devices?pc=PC-02").Is(t, 200).Has(t, "/devices/B1", "PC-02 offline since").Lacks(t, "/devices/A1")
	vera.Get(t, "/devices?presence=offline").Is(t, 200).Lacks(t, "/devices/A1")
	vera.Get(t, "/devices/A1").Is(t, 200).Has(t, "10.0.0.7:5555", "hub &lt;1&gt;", "&lt;b&gt;red", `data-event="registered"`).Lacks(t, "<b>red", "/devices/A1/maintain")
	vera.Get(t, "/fleet/pcs").Is(t, 200).Has(t, `data-state="dead"`, "PC-02 offline since").Lacks(t, "/slots")
	vera.Get(t, "/timeline?kind=device").Is(t, 200).Has(t, `href="/devices/A1"`)
}

// seesResults looks at the results of a job, of which one run left a JUnit file.
func seesResults(t *testing.T, l *lab, vera *webtest.Client, job, task weir.ID, serial string) {
	t.Helper()
	results := "/fleet/jobs/" + job.String() + "/results"
	if _, err := l.DB.Pool.Exec(t.Context(), `insert into weir.artifacts (job, task, attempt, kind, name, bucket, key, size, content_type, at)
			values ($1, $2, 1, 'output', 'junit.xml', 'b', 'k', 1, 'text/xml', now());`, job, task); err != nil {
		t.Fatal(err)
	}
	if _, err := l.DB.Pool.Exec(t.Context(), `select weir.test_report_read(r.artifact, a.at, '{"tests": 7, "failures": 2,
			"failed": [{"suite": "cam", "name": "opens <b>", "kind": "failure", "message": "black <i>"}]}')
			from weir.test_reports r join weir.artifacts a on a.id = r.artifact`); err != nil {
		t.Fatal(err)
	}
	vera.Get(t, results).Is(t, 200).Has(t, "cam.opens &lt;b&gt;", "black &lt;i&gt;", serial, `data-failed="2"`, results).Lacks(t, "opens <b>", "data-unread")
	// A file that was refused stands beside what the run said.
	if _, err := l.DB.Pool.Exec(t.Context(), `update weir.test_reports set fault = 'it is over 10 MB'`); err != nil {
		t.Fatal(err)
	}
	vera.Get(t, results).Is(t, 200).Has(t, "adb &lt;offline&gt;", "JUnit: junit.xml: it is over 10 MB")
}

// A run that fails for good puts its device out: the page of the device has the
// evidence, the list of the quarantine says why, and people bring it back.
func TestFleetCommands(t *testing.T) {
	l := newLab(t)
	vera, olga, mia := l.Login(t, "vera", auth.Viewer), l.Login(t, "olga", auth.Operator), l.Login(t, "mia", auth.Maintainer)
	l.report("PC-01", 0, "A1", "A2", "A3")
	job := l.submit(fleet.Spec{Name: "warmup", Attempts: 1})
	bad := l.claim("PC-01", 2)[0]
	l.fail(bad, "adb <offline>")
	of := "/devices/" + bad.Serial

	vera.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, of, "adb &lt;offline&gt;", "by hand").Lacks(t, of+"/release", "<offline>")
	vera.Get(t, of).Is(t, 200).Has(t, `data-health="quarantined"`, "It gets no work", "/tasks/"+bad.Task.String(), "/fleet/jobs/"+job.ID.String(), `data-event="quarantined"`)
	vera.Get(t, "/fleet/jobs/"+job.ID.String()+"/units?state=failed").Is(t, 200).Has(t, "FAILED_FINAL", bad.Serial)
	vera.Post(t, of+"/release", form("reason", "x")).Is(t, http.StatusForbidden)
	seesResults(t, l, vera, job.ID, bad.Task, bad.Serial)

	olga.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, of+"/release")
	olga.Get(t, of+"/release").Is(t, 200).Has(t, "Release "+bad.Serial+"?", `name="reason"`)
	olga.Post(t, of+"/release", form("reason", "")).Is(t, 422).Has(t, "It is missing")
	olga.Get(t, olga.Post(t, of+"/release", form("reason", "new <cable>")).Is(t, 303).To()).Is(t, 200).Has(t, bad.Serial+" is released.", `data-health="good"`, "new &lt;cable&gt;", of+"/quarantine").Lacks(t, of+"/release")
	olga.Post(t, of+"/release", form("reason", "again")).Is(t, 303)
	// The plan names the condition that keeps a device out.
	vera.Post(t, "/new-fleet-job", form("name", "new")).Is(t, http.StatusForbidden)
	mia.Post(t, "/new-fleet-job", form("name", "new", "run", "true", "target", "some", "target.match", "android>=13; model", "do", "plan")).
		Has(t, `data-preview="left"`, "android&gt;=13 does not hold")
	mia.Post(t, "/new-fleet-job", form("name", "new", "run", "true", "target", "some", "target.match", "android>=", "do", "plan")).
		Is(t, 422).Has(t, "is no condition on labels")

	// A person has a device for a time; another one does not take it, an admin does.
	omar, root := l.Login(t, "omar", auth.Operator), l.Login(t, "root", auth.Admin)
	vera.Post(t, of+"/reserve", form("until", "2030-01-01T00:00:00Z")).Is(t, http.StatusForbidden)
	olga.Get(t, of+"/reserve").Is(t, 200).Has(t, "Reserve "+bad.Serial+"?", `name="until"`, "2 hours")
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	olga.Post(t, of+"/reserve", form("until", "")).Is(t, 422)
	olga.Get(t, olga.Post(t, of+"/reserve", form("until", soon, "reason", "a <crash>")).Is(t, 303).To()).Is(t, 200).
		Has(t, "is reserved for you", "reserved by olga", "a &lt;crash&gt;", `data-event="reserved"`, of+"/release").Lacks(t, of+"/reserve")
	omar.Post(t, of+"/reserve", form("until", soon)).Is(t, 409)
	omar.Post(t, of+"/release", form("reason", "mine")).Is(t, 409)
	root.Post(t, of+"/release", form()).Is(t, 303)
	olga.Get(t, of).Is(t, 200).Has(t, `data-event="unreserved"`, of+"/reserve", "pic-strip", "The last day of "+bad.Serial, "Out of use", "7d")
	olga.Get(t, "/devices?pc=PC-01").Is(t, 200).Has(t, "Out of use", "24h", bad.Serial)
	olga.Post(t, of+"/maintain", form("reason", "hub", "until", soon)).Is(t, 303)
	olga.Get(t, of).Is(t, 200).Has(t, `data-health="maintenance"`, "maintenance since", " until ")
	olga.Post(t, of+"/release", form("reason", "back")).Is(t, 303)

	olga.Post(t, of+"/quarantine", form("reason", "smokes")).Is(t, 303)
	olga.Post(t, of+"/maintain", form("reason", "battery")).Is(t, 303)
	olga.Post(t, of+"/quarantine", form("reason", "smokes")).Is(t, 409)
	olga.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, of, `data-health="maintenance"`, "battery")
	olga.Get(t, "/fleet/quarantine?health=quarantined").Is(t, 200).Lacks(t, of)
	olga.Get(t, of+"/retire").Is(t, 200).Has(t, "A release brings it back")
	olga.Post(t, of+"/retire", form("reason", "burnt")).Is(t, 303)
	olga.Get(t, of).Is(t, 200).Has(t, `data-health="retired"`, "battery", "burnt").Lacks(t, of+"/retire", of+"/maintain")

	// What a person says about slots and the policy.
	olga.Get(t, "/fleet/pcs/PC-01/slots").Is(t, http.StatusForbidden)
	mia.Get(t, "/fleet/pcs/PC-01/slots").Is(t, 200).Has(t, "Change the slots of PC-01")
	mia.Post(t, "/fleet/pcs/PC-01/slots", form("slots", "many")).Is(t, 422).Has(t, "1 to 1000")
	mia.Post(t, "/fleet/pcs/PC-01/slots", form("slots", "2")).Is(t, 303)
	if grid := mia.Get(t, "/fleet").Is(t, 200); cells(grid, "running")+cells(grid, "free")+cells(grid, "none") != 2 {
		t.Error("the grid has other slots than 2")
	}
	mia.Post(t, "/fleet/pcs/PC-01/slots", form("slots", "")).Is(t, 303)
	olga.Get(t, "/fleet/policy/change").Is(t, http.StatusForbidden)
	mia.Post(t, "/fleet/policy/change", form("policy", "evidence", "slots", "20", "overlap", "yes", "health", `{"rum": {}}`)).Is(t, 422).Has(t, "not understood")
	mia.Post(t, "/fleet/policy/change", form("policy", "lax", "slots", "20", "overlap", "yes")).Is(t, 422)
	mia.Post(t, "/fleet/policy/change", form("policy", "evidence", "slots", "5", "overlap", "yes", "health", `{"run": {"argv": ["./check"]}, "timeout": "1m"}`)).Is(t, 303)
	mia.Get(t, "/fleet/policy").Is(t, 200).Has(t, "two different jobs", "./check")
	mia.Post(t, "/fleet/policy/change", form("policy", "evidence", "slots", "5", "overlap", "yes",
		"health", `{"run": {"argv": ["./check"]}, "timeout": "1m", "by_label": [{"match": ["not os=ios"], "run": {"argv": ["./other", "<x>"]}}]}`)).Is(t, 303)
	mia.Get(t, of).Is(t, 200).Has(t, "./other &lt;x&gt;", "for devices with not os=ios")
	mia.Get(t, "/fleet/policy/change").Is(t, 200).Has(t, "./check", `value="5"`)
	// The list of the quarantine counts down to the next health task.
	mia.Post(t, "/devices/A3/quarantine", form("reason", "smokes")).Is(t, 303)
	mia.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, "A health task that succeeds brings one back", `data-rel="ago">in `).Lacks(t, "due now")
	l.Exec(t, `update weir.devices set check_at = now() where serial = 'A3'`)
	mia.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, "due now")
	mia.Get(t, "/devices/A3").Is(t, 200).Has(t, "due now")
	mia.Post(t, "/fleet/policy/change", form("policy", "strict", "slots", "20", "overlap", "no", "health", "")).Is(t, 303)
	mia.Get(t, "/fleet/quarantine").Is(t, 200).Has(t, "by hand").Lacks(t, "due now")
	if p, err := l.Fleets.Policy(t.Context()); err != nil || p.Health != nil || p.Overlap || p.Policy != fleet.PolicyStrict {
		t.Errorf("%+v, %v", p, err)
	}

	on := "/fleet/jobs/" + job.ID.String()
	olga.Get(t, on).Is(t, 200).Has(t, on+"/cancel")
	olga.Get(t, on+"/cancel").Is(t, 200).Has(t, "Cancel warmup?")
	olga.Post(t, on+"/cancel", form("reason", "")).Is(t, 422)
	olga.Get(t, olga.Post(t, on+"/cancel", form("reason", "wrong build")).Is(t, 303).To()).Is(t, 200).Has(t, "1 canceled, 1 asked to stop.", `data-state="canceling"`).Lacks(t, on+"/cancel")
}
