package pagetest_test

import (
	"fmt"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
)

// The grid lives: a claim turns free cells into running ones, and a run that fails
// for good takes its device off, without a reload.
func TestBrowserFleet(t *testing.T) {
	l := newLab(t)
	l.report("PC-02", 5, "B1", "B2")
	b := l.Open(t)
	b.Login(l.User(t, "mia", auth.Maintainer))
	l.report("PC-01", 0, "A1", "A2", "A3") // a PC that is silent for 45 s is dead, and a browser is slow
	l.submit(fleet.Spec{Name: "warmup", Attempts: 1})
	b.Go("/fleet")
	b.WaitLive()
	b.WaitText("PC-02 offline since")
	b.Wait("three free cells", `document.querySelectorAll('[data-pc="PC-01"] [data-kind="free"]').length === 3 && (window.mark = true)`)
	l.report("PC-01", 0, "A1", "A2", "A3")
	leases := l.claim("PC-01", 2)
	b.Wait("two that run", `window.mark && document.querySelectorAll('[data-pc="PC-01"] [data-kind="running"]').length === 2`)
	b.Shots("fleet")
	l.fail(leases[0], "adb offline")
	b.Wait("one that runs", `window.mark && document.querySelectorAll('[data-pc="PC-01"] [data-kind="running"]').length === 1`)
	b.Go("/devices/" + leases[0].Serial)
	b.WaitLive()
	b.Wait("its health", `document.querySelector('.page-head [data-health="quarantined"]')`)
	b.Shots("fleet-device")
	b.Go("/fleet/quarantine")
	b.WaitText("adb offline")
	b.Shots("fleet-quarantine")
	b.Go("/fleet/jobs")
	b.Shots("fleet-jobs")
	b.ClickText("warmup")
	b.WaitText("Why not yet")
	b.Shots("fleet-job")
	b.Go("/fleet/pcs")
	b.Shots("fleet-pcs")
	b.Go("/fleet?health=quarantined")
	b.Wait("a cell", `document.querySelector('[data-kind="quarantined"]')`)
	b.Shots("fleet-health")
	b.Go("/fleet/policy")
	b.ClickText("Change the policy")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Shot("fleet-policy-question")
}

// A job is submitted by the form, with two clicks that make one; its page follows it to
// its end, and nothing is loaded again on the way.
func TestBrowserFleetJob(t *testing.T) {
	l := newLab(t)
	b := l.Open(t)
	b.Login(l.User(t, "mia", auth.Maintainer))
	b.Go("/fleet")
	b.Shots("fleet-empty")
	b.Go("/fleet/jobs")
	b.Shots("fleet-jobs-empty")
	l.report("PC-02", 5, "B1")
	l.report("PC-01", 0, "A1", "A2", "A3", "A4")
	b.ClickText("New fleet job")
	b.Wait("the form", `location.pathname === "/new-fleet-job"`)
	b.Shots("fleet-new")
	b.Fill("#field-name", "nightly")
	b.Fill("#field-run", "./test.sh --suite 'smoke test'")
	b.ClickText("Show which devices it takes")
	b.WaitText("Nothing was created")
	b.Wait("the fault at its field", `document.querySelector("#about-target .fault") && document.activeElement.id === "field-target"`)
	b.Shots("fleet-new-fault")
	b.Wait("a target", `(document.querySelector('[id="field-target.tag"]').value = "<b>red</b>")`)
	if _, err := l.Fleets.Quarantine(t.Context(), "ann", "A4", "screen is broken"); err != nil {
		t.Fatal(err)
	}
	b.ClickText("Show which devices it takes")
	b.WaitText("PC-02 offline since")
	b.WaitText("3 devices would take it")
	b.Shots("fleet-new-preview")
	b.Wait("two clicks", `(() => { const e = document.querySelector('button[value="create"].is-primary'); e.click(); e.click(); return true; })()`)
	b.Wait("its page", `location.pathname.startsWith("/fleet/jobs/")`)
	b.WaitText("The job is submitted.")
	if n := l.jobs(); n != "1" {
		t.Fatalf("%s jobs", n)
	}
	b.WaitLive()
	counts := func(state string, n int) {
		t.Helper()
		b.Wait(fmt.Sprintf("%d %s", n, state), fmt.Sprintf(`window.mark && document.querySelector('[data-count="%s"]')?.innerText.trim().endsWith(" %d")`, state, n))
	}
	b.Wait("a mark", `(window.mark = true)`)
	b.WaitText("1 quarantined, 1 on PCs that stand still, 3 wait their turn")
	l.report("PC-01", 0, "A1", "A2", "A3", "A4")
	leases := l.claim("PC-01", 2)
	counts("running", 2)
	b.Shots("fleet-job-running")
	l.finish(leases...)
	counts("done", 2)
	l.report("PC-01", 0, "A1", "A2", "A3", "A4")
	l.finish(l.claim("PC-01", 1)...)
	counts("done", 3)
	// What is left cannot be served; a person ends it.
	if _, err := l.Fleets.Cancel(t.Context(), "ann", l.jobAt(b.Value("location.pathname")).ID, "enough"); err != nil {
		t.Fatal(err)
	}
	b.Wait("the end", `window.mark && document.querySelector('.page-head [data-state="canceled"]')`)
	b.Shots("fleet-job-ended")
	b.Go(b.Value("location.pathname") + "/units")
	b.Shots("fleet-units")
	b.Go("/devices")
	b.Shots("fleet-devices")
	b.Go("/fleet?show=trouble")
	b.Shots("fleet-trouble")

	// The same in Korean: longer words must fit, too.
	b.Click("#user-button")
	b.ClickText("한국어")
	b.WaitText("문제 있는 PC만")
	for name, path := range map[string]string{"fleet": "/fleet", "jobs": "/fleet/jobs", "new": "/new-fleet-job", "quarantine": "/fleet/quarantine", "pcs": "/fleet/pcs", "policy": "/fleet/policy", "devices": "/devices", "device": "/devices/A4"} {
		b.Go(path)
		b.Shots("fleet-ko-" + name)
	}
}
