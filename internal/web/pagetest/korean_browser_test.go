package pagetest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/rollout"
	"github.com/weirhq/weir/internal/web/webtest"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// spoken is what people read of a page and of what assistive technology says: text and the
// attributes that are text. Left out is what no language translates (names, code, ids) and
// what a store says, which has an attribute of its own.
const spoken = `JSON.stringify((() => {
	const data = "code, pre, kbd, script, style, template, textarea, time, .mono, .languages, [translate=no], [data-said='']";
	const out = [document.title.replace(/ · Weir$/, "")];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
	while (walk.nextNode()) {
		const node = walk.currentNode;
		const element = node.nodeType === 1 ? node : node.parentElement;
		if (element.closest(data)) continue;
		if (node.nodeType === 3) out.push(node.data);
		else for (const name of ["title", "aria-label", "placeholder", "alt", "data-label"]) {
			if (node.dataset.said !== name) out.push(node.getAttribute(name) || "");
		}
	}
	return out.map((text) => text.trim()).filter((text) => text);
})())`

// proper are the words that Korean writes in Latin letters.
var proper = strings.Fields(`Weir API PostgreSQL MariaDB MySQL SQL JSON YAML Go ID UTC URL PC PCs SHA-256 Docker Compose
	HTTP POST OIDC MAC Wake-on-LAN cron Enter Esc SSH CI TLS ms KiB MiB GiB DDL postgres mysql mariadb`)

var (
	latin = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*[A-Za-z]`)
	// coded are words that are code: with a digit, an underscore or a sign in them.
	coded = regexp.MustCompile(`\S*[0-9_=:/.@{}<>*+?\\"]\S*[A-Za-z]\S*|\S*[A-Za-z]\S*[0-9_=:/@{}<>*+\\"]\S*`)
	// ours are the names of the test, most of which begin with zz, and codes in brackets.
	ours = regexp.MustCompile(`\S*zz\S*|\b(?:test|ann|exec|agent|rollout|fleet|admin)\b|\([A-Za-z_]+\)`)
)

// english are the words of a text that are English.
func english(text string) (out []string) {
	text = coded.ReplaceAllString(ours.ReplaceAllString(text, " "), " ")
	for _, word := range latin.FindAllString(text, -1) {
		if !slices.Contains(proper, word) {
			out = append(out, word)
		}
	}
	return out
}

func TestEnglish(t *testing.T) {
	for text, want := range map[string]string{
		"작업 3개": "",
		"Weir가 zz-film을 30m 뒤 wake_urls로 깨웁니다": "",
		"JSON: name=value 또는 @hourly":          "",
		"작업 3 tasks":                           "tasks",
		"That is all.":                         "That is all",
	} {
		if got := strings.Join(english(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// korean fails for each text of the page that the browser shows with English in it.
func korean(t *testing.T, b *webtest.Browser, path string) {
	t.Helper()
	var texts []string
	if err := json.Unmarshal([]byte(b.Value(spoken)), &texts); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if words := english(text); len(words) > 0 {
			t.Errorf("%s: %q has %s", path, text, strings.Join(words, ", "))
		}
	}
}

// An empty server speaks Korean, too: what its pages say then is said nowhere else.
func TestBrowserKoreanEmpty(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	account := s.User(t, "zzadmin", auth.Admin)
	b.Go("/login")
	b.ClickText("한국어")
	b.Wait("the language of the document", `document.documentElement.lang === "ko"`)
	b.Login(account)
	client := s.Login(t, "zzreader", auth.Admin)
	for _, r := range s.Web.Routes() {
		if r.Method != http.MethodGet || strings.Contains(r.Path, "{") || client.Get(t, r.Path).Status != http.StatusOK {
			continue
		}
		b.Go(r.Path)
		if r.Path == "/" {
			b.WaitLive()
			b.WaitText("실시간")
		}
		korean(t, b, r.Path)
	}
}

// Every page and every question is shown in Korean, with no English left but names.
func TestBrowserKorean(t *testing.T) {
	s := webtest.Start(t)
	b := s.Open(t)
	account := s.User(t, "zzadmin", auth.Admin)
	places := fillKorean(t, s)
	b.Go("/login")
	b.ClickText("한국어")
	b.Wait("the language of the document", `document.documentElement.lang === "ko"`)
	look := func(path string) {
		t.Helper()
		korean(t, b, path)
	}
	look("/login")
	b.Login(account)
	asks := map[string]bool{}
	for _, r := range s.Web.Routes() {
		asks[r.Path] = asks[r.Path] || r.Method == http.MethodPost
	}
	client := s.Login(t, "zzreader", auth.Admin)
	for _, r := range s.Web.Routes() {
		path, known := filledIn(places, r.Path)
		if r.Method != http.MethodGet || !known {
			if !known {
				t.Errorf("nothing is known for %s of %s", path, r.Path)
			}
			continue
		}
		answer := client.Get(t, path)
		switch {
		case !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") && answer.Status != http.StatusSeeOther:
			continue // a file
		case asks[r.Path] && answer.Status != http.StatusOK:
			continue // it is done without a question, or not now
		case answer.Status >= http.StatusBadRequest:
			t.Errorf("%s is %d", path, answer.Status)
			continue
		}
		if strings.HasSuffix(r.Path, "/open") {
			continue // it leads to the workspace itself
		}
		b.Go(path)
		look(path)
	}
	for _, path := range []string{
		"/nothing", "/search?q=zz", "/search?q=zznone", "/timeline?kind=task",
		"/tasks?state=pending", "/jobs?state=canceled",
	} {
		b.Go(path)
		look(path)
	}
	if !b.Is(`document.documentElement.lang === "ko"`) {
		t.Error("the document is not Korean")
	}
}

// filledIn puts names of things into the path of a route.
func filledIn(places map[string]string, path string) (string, bool) {
	template, out := "", ""
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		template += "/" + part
		if inPath.MatchString(part) {
			value, ok := places[template]
			if !ok {
				return template, false
			}
			part = value
		}
		out += "/" + part
	}
	return out, true
}

// fillKorean makes one of everything, with names that begin with zz, and says where it is.
func fillKorean(t *testing.T, s *webtest.Server) map[string]string {
	t.Helper()
	h, l := &harbour{TB: t, Server: s, addresses: map[string]string{}}, &lab{t, s}
	s.Exec(t,
		`select weir.set_pool('zzpool', size => 1, rate => 6, per => '1 min', note => 'zznote')`,
		`select weir.set_pool('zzstopped', size => 0)`,
		`select weir.register_node('zznode', '{"zzlabel": "zzvalue"}', '{"zzencode": 4}')`,
		`select weir.register_worker('zzworker', '{zzencode,zzprobe}', 'zznode')`,
		`select weir.register_node('zzdrained', '{}', '{}')`,
		`select weir.set_node_mode('zzdrained', 'draining', 'zzreason', now() + interval '3 h', 'zzadmin')`,
		`select weir.submit('zzencode', '{"zz": 1}', pool => 'zzpool') from generate_series(1, 4)`,
		`select weir.submit('zznobody', '{}')`,
		`select weir.submit('zzprobe', '{}', hold => 'zzhold')`,
		`select weir.submit('zzprobe', '{}', run_at => now() + interval '3 h')`,
		`select weir.submit('zzprobe', '{}', max_attempts => 1) from generate_series(1, 2)`,
		`select weir.open_gates()`,
		`select count(*) from weir.claim('zzworker', '{zzencode}', 1, lease => '1 h')`,
		`select weir.fail(task, attempt, token, 'zzcause') from weir.claim('zzworker', '{zzprobe}', 1, lease => '1 h')`,
		`select weir.finish(task, attempt, token, '{"zz": 1}') from weir.claim('zzworker', '{zzprobe}', 1, lease => '1 h')`,
		`select weir.set_schedule('zzschedule', '0 3 * * *', '{"service": "zzreport"}', now() + interval '9 h', 'Europe/Budapest')`,
		`select weir.set_schedule('zzpaused', '@every 10m', '{"service": "zztidy"}', now() + interval '1 min', paused => true)`,
		`select weir.tally()`,
		`insert into weir.minutes (at, submitted, started, done, failed, wait_p50, wait_p95)
			select date_trunc('minute', now()) - n * interval '1 min', 50, 40, 30, n % 4, 0.2, 1.5 from generate_series(1, 50) n
			on conflict do nothing`,
	)
	s.AtEnd(func() {
		if _, err := s.DB.Pool.Exec(context.WithoutCancel(t.Context()), `select weir.heartbeat('zzworker')`); err != nil {
			t.Errorf("heartbeat: %v", err)
		}
	})
	if err := s.Vault.Put(t.Context(), "zzadmin", "zzsecret", "zz", "zznote"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Auth.CreateJoin(t.Context(), auth.System("zzadmin"), auth.NewJoin{
		Node: "zzother",
		Any:  true,
	}); err != nil {
		t.Fatal(err)
	}
	s.Put(t, strings.NewReplacer("chain", "zzflow", "first", "zzfirst", "second", "zzsecond", "third", "zzthird",
		"the editor on duty", "zzeditor", "deploy_token", "zzsecret").Replace(chain))
	s.Put(t, "name: zzafter\nsteps:\n  - {key: zzonly, service: zzprobe}")
	s.Exec(t, `select weir.set_trigger('zztrigger', 'zzafter', 'zzflow')`)
	s.Exec(t, `select weir.set_trigger('zzhook', 'zzafter')`)
	d := newDesk(t, s, "zzagent")
	job := run(t, s, "zzflow", nil)
	s.Exec(t, `select weir.open_gates()`)
	a := d.take()
	d.print(a, "out", "zzline")
	d.leave(a, "zzfile.txt", "text/plain", []byte("zz"))
	d.end(a, node.Done, `{"zz": 1}`)
	film := submitJob(t, s, weir.Job{Name: "zzjob", Kind: "zzkind", Tasks: []weir.Task{
		{Service: "zzprobe", Key: "zza"}, {Service: "zzencode", Key: "zzb", Needs: []string{"zza"}},
	}})
	h.paper("zztest", "zzdatabase")
	x := h.create(rollout.Plan{
		Name: "zzrollout", Stages: []rollout.Stage{{Name: "zztest"}},
		Files: []rollout.File{file("V1__zz.sql", "create table zz (id int);")},
	})
	h.must(h.Rollouts.Start(t.Context(), "zzadmin", x.ID))
	h.create(rollout.Plan{ // its tasks are held until it is started
		Name: "zznext", Stages: []rollout.Stage{{Name: "zztest"}},
		Files: []rollout.File{file("V2__zz.sql", "create table zzz (id int);")},
	})
	s.Exec(t, `select weir.fleet_report('zzpc', '[{"serial": "zzserial", "target": "10.0.0.7:5555"}]')`)
	fleetJob := l.submit(fleet.Spec{Name: "zzfleet"}).ID
	space := settle(t, s, "zzadmin", "zzspace", "zzabout", ladder.Standby)
	return map[string]string{
		"/workflows/{name}": "zzflow", "/jobs/{id}": job.String(), "/jobs/{job}": film.String(),
		"/tasks/{id}": a.Task.String(), "/tasks/{task}": taskOf(t, s, film, "zzb").String(),
		"/artifacts/{id}":     s.One(t, `select min(id)::text from weir.artifacts`),
		"/rollouts/{rollout}": x.ID.String(), "/rollouts/{rollout}/changes/{change}": "1",
		"/rollouts/{rollout}/stages/{stage}": "zztest",
		"/rollouts/{rollout}/tasks/{task}": s.One(t,
			`select id::text from weir.task where job = '`+x.ID.String()+`' limit 1`),
		"/databases/{database}": "zzdatabase", "/fleet/jobs/{job}": fleetJob.String(), "/fleet/pcs/{pc}": "zzpc",
		"/devices/{serial}": "zzserial", "/devices/{device}": "zzserial", "/workspaces/{workspace}": space.String(),
		"/schedules/{schedule}": "zzschedule", "/triggers/{trigger}": "zztrigger",
		"/pools/{pool}": "zzpool", "/nodes/{node}": "zznode", "/workers/{name}": "zzworker", "/users/{user}": "zzadmin",
		"/secrets/{secret}": "zzsecret", "/tokens/{token}": film.String(), "/joins/{join}": film.String(),
		"/sessions/{session}":  film.String(),
		"/bulk/tasks/{action}": "cancel", "/bulk/jobs/{action}": "cancel",
	}
}
