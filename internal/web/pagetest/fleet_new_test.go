package pagetest_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/webtest"
)

// fleetPlan is the form of a fleet job; pairs are put on top of it.
func fleetPlan(pairs ...string) url.Values {
	v := form("step", "preview", "name", "nightly", "run", `./test.sh --suite "smoke test"`, "target", "all")
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func (l *lab) jobs() string { return l.One(l, `select count(*)::text from weir.fleet_jobs`) }

func (l *lab) jobAt(path string) fleet.Job {
	l.Helper()
	id, err := weir.ParseID(strings.TrimPrefix(path, "/fleet/jobs/"))
	if err != nil {
		l.Fatal(err)
	}
	j, err := l.Fleets.Job(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	return j
}

// A fleet job is submitted on the page: by those who may, only what somebody has looked
// at, and once.
func TestNewFleetJob(t *testing.T) {
	l := newLab(t)
	vera, olga, mia := l.Login(t, "vera", auth.Viewer), l.Login(t, "olga", auth.Operator), l.Login(t, "mia", auth.Maintainer)
	for _, path := range []string{"/fleet", "/fleet/jobs"} {
		mia.Get(t, path).Is(t, 200).Has(t, `href="/new-fleet-job"`)
		vera.Get(t, path).Is(t, 200).Lacks(t, "/new-fleet-job")
		olga.Get(t, path).Is(t, 200).Lacks(t, "/new-fleet-job")
	}
	mia.Get(t, "/fleet/jobs").Is(t, 200).Has(t, `class="empty-act"`)
	olga.Get(t, "/new-fleet-job").Is(t, http.StatusForbidden)
	olga.Post(t, "/new-fleet-job", fleetPlan()).Is(t, http.StatusForbidden)
	mia.Get(t, "/new-fleet-job").Is(t, 200).Has(t, `name="run"`, `name="target.labels"`, `name="infra.place"`, `name="breaker"`).Lacks(t, "What it would do", `value="create"`)
	mia.Get(t, "/new-fleet-job?device=A7").Is(t, 200).Has(t, `value="A7"`)

	// Which devices it takes, which not, and why.
	l.report("PC-02", 5, "B1", "B2")
	l.report("PC-01", 0, "A1", "A2", "A3", "A4")
	if _, err := l.Fleets.Quarantine(t.Context(), "ann", "A4", "smokes"); err != nil {
		t.Fatal(err)
	}
	page := mia.Post(t, "/new-fleet-job", fleetPlan("repeat", "2")).Is(t, 200)
	page.Has(t, "What it would do", `<span class="stat-value">12</span>`, "3 devices cannot serve it now", "PC-02 offline since", "smokes", `href="/devices/B1"`, "3 devices would take it", ">smoke test<", "--suite", "repeat: 2", `value="create"`)
	if takes := between(t, page.Body, `data-preview="takes"`, "</details>"); !strings.Contains(takes, "A3") || strings.Contains(takes, "A4") || strings.Contains(takes, "B1") {
		t.Errorf("it takes %s", takes)
	}
	mia.Post(t, "/new-fleet-job", fleetPlan("setup", `adb install "my app"`, "cleanup", "adb uninstall x")).Is(t, 200).Has(t, "my app", "cleanup:", "setup:", "uninstall")
	mia.Post(t, "/new-fleet-job", fleetPlan("setup", `adb "install`)).Is(t, 422)
	mia.Post(t, "/new-fleet-job", fleetPlan("target", "some", "target.labels", "tag=blue")).Is(t, 200).Has(t, "No device is in the target", `<span class="stat-value">0</span>`)
	mia.Post(t, "/new-fleet-job", fleetPlan("target", "some", "target.tag", "<b>red</b>", "any", "5")).Is(t, 200).Has(t, `<span class="stat-value">5</span>`, "&lt;b&gt;red").Lacks(t, "<b>red")
	if n := l.jobs(); n != "0" {
		t.Fatalf("a preview made %s jobs", n)
	}

	// Nothing is submitted that nobody has looked at.
	v := looked(t, page, fleetPlan("repeat", "2"))
	mia.Post(t, "/new-fleet-job", fleetPlan("seen", v.Get("seen"), "key", v.Get("key"), "step", "create", "repeat", "3")).Is(t, 200).Has(t, "not the job that you looked at", "repeat: 3")
	mia.Post(t, "/new-fleet-job", fleetPlan("step", "create")).Is(t, 200).Has(t, "not the job that you looked at")
	if n := l.jobs(); n != "0" {
		t.Fatalf("%s jobs", n)
	}

	// Clicked twice it is one.
	to := make([]string, 4)
	var clicks sync.WaitGroup
	for i := range to {
		clicks.Go(func() { to[i] = mia.Post(t, "/new-fleet-job", v).To() })
	}
	clicks.Wait()
	if to[0] == "" || to[0] != to[1] || to[0] != to[2] || to[0] != to[3] || l.jobs() != "1" {
		t.Fatalf("it leads to %q, and there are %s", to, l.jobs())
	}
	j := l.jobAt(to[0])
	if j.State != fleet.JobActive || j.Counts.Total != 12 || j.By == "" || strings.Join(j.Spec.Run.Argv, "|") != "./test.sh|--suite|smoke test" {
		t.Errorf("%+v, %+v", j, j.Spec)
	}
	mia.Get(t, to[0]).Is(t, 200).Has(t, "The job is submitted.", `id="waits"`, "2 quarantined", "4 on PCs that stand still", "6 wait their turn")

	// All of its fields arrive, and the next one waits its turn.
	full := fleetPlan("target", "some", "target.devices", "A1, A2", "target.labels", "tag=<b>red</b>", "params", `{"n": 1}`, "repeat", "2", "attempts", "5", "timeout", "90s", "backoff", "0s", "infra.attempts", "7",
		"infra.place", "other_pc", "infra.exit", "69 75", "breaker", "0", "join", "running", "linger", "1h30m", "priority", "-3")
	page = mia.Post(t, "/new-fleet-job", full).Is(t, 200).Has(t, "1 fleet job comes first", "place: other_pc", "timeout: 1m30s")
	again := l.jobAt(mia.Post(t, "/new-fleet-job", looked(t, page, full)).Is(t, 303).To())
	s := again.Spec
	if again.State != fleet.JobWaiting || s.Attempts != 5 || time.Duration(s.Timeout) != 90*time.Second || s.Backoff == nil || *s.Backoff != 0 || s.Infra == nil || s.Infra.Attempts != 7 || s.Infra.Place != fleet.PlaceOtherPC ||
		len(s.Infra.Exit) != 2 || s.Breaker == nil || *s.Breaker != 0 || s.Join != fleet.JoinRunning || s.Linger == nil || time.Duration(*s.Linger) != 90*time.Minute || s.Priority != -3 || len(s.Target.Devices) != 2 || s.Target.All ||
		s.Target.Labels["tag"] != "<b>red</b>" || s.Repeat != 2 {
		t.Errorf("%+v, %+v", s, s.Infra)
	}

	off := webtest.Start(t, func(c *site.Config) { c.Fleets = nil })
	off.Login(t, "mia", auth.Maintainer).Get(t, "/new-fleet-job").Is(t, http.StatusNotFound)
}

// What is wrong stands at its field, and what was typed comes back.
func TestNewFleetJobFaults(t *testing.T) {
	l := newLab(t)
	l.report("PC-01", 0, "A1")
	mia := l.Login(t, "mia", auth.Maintainer)
	for _, c := range []struct {
		name  string
		with  []string
		field string
		has   string
	}{
		{"no name", []string{"name", ""}, "name", "Give it a name"},
		{"a long name", []string{"name", strings.Repeat("n", 201)}, "name", "at most 200"},
		{"no command", []string{"run", " "}, "run", "Say what runs"},
		{"an open quote", []string{"run", `./a "b`}, "run", "A quotation does not end"},
		{"params", []string{"params", "[1]"}, "params", "no JSON object"},
		{"no target", []string{"target", "some"}, "target", "choose all of the fleet"},
		{"two targets", []string{"target.tag", "x"}, "target", "empty those fields"},
		{"a device that is not there", []string{"target", "some", "target.devices", "A1 nowhere"}, "target.devices", "There is no device nowhere"},
		{"no serial", []string{"target", "some", "target.devices", "a/b"}, "target.devices", "is no serial"},
		{"a label", []string{"target", "some", "target.labels", "tag"}, "target.labels", "is no label"},
		{"any", []string{"any", "many"}, "any", "is no number"},
		{"too few rounds", []string{"repeat", "0"}, "repeat", "Write 1 or more"},
		{"too many rounds", []string{"repeat", "10001"}, "repeat", "between 0 and 10000"},
		{"attempts", []string{"attempts", "101"}, "attempts", "between 0 and 100"},
		{"timeout", []string{"timeout", "soon"}, "timeout", "is no time"},
		{"no timeout", []string{"timeout", "0s"}, "timeout", "is no time"},
		{"a long timeout", []string{"timeout", "31d"}, "timeout", "write a span between"},
		{"back-off", []string{"backoff", "-1s"}, "backoff", "is no time"},
		{"infra", []string{"infra.attempts", "0"}, "infra.attempts", "Write 1 or more"},
		{"place", []string{"infra.place", "moon"}, "infra.place", "is no place"},
		{"exit", []string{"infra.exit", "0"}, "infra.exit", "is no exit code"},
		{"join", []string{"join", "never"}, "join", "is no way to join"},
		{"breaker", []string{"breaker", "-1"}, "breaker", "Write 0 or more"},
		{"linger", []string{"linger", "x"}, "linger", "is no time"},
		{"priority", []string{"priority", "101"}, "priority", "between -100 and 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := mia.Post(t, "/new-fleet-job", fleetPlan(c.with...)).Is(t, 422).Has(t, "Nothing was created", `aria-invalid="true"`).Lacks(t, "What it would do")
			at := strings.Index(page.Body, `id="about-`+c.field+`"`)
			if at < 0 || !strings.Contains(page.Body[at:min(len(page.Body), at+700)], c.has) {
				t.Errorf("%q does not stand at %s", c.has, c.field)
			}
			if !strings.Contains(page.Body, `value="./test.sh --suite &#34;smoke test&#34;"`) && c.field != "run" {
				t.Error("the command is lost")
			}
		})
	}
	if n := l.jobs(); n != "0" {
		t.Errorf("%s jobs", n)
	}
	mia.Post(t, "/language", form("language", "ko", "back", "/fleet")).Is(t, 303)
	mia.Post(t, "/new-fleet-job", fleetPlan("run", "")).Is(t, 422).Has(t, "실행할 명령을 입력하세요", `lang="ko"`)
}
