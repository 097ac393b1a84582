package web_test

import (
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
