package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
)

// A rollout over two environments, from the browser: it is started, its cards
// change by themselves, the second stage waits for an approval, is approved and
// goes on to its end. A run that waits for a lock shows who has it.
func TestBrowserRollout(t *testing.T) {
	h := newHarbour(t)
	h.target("test", "orders-test")
	h.target("prod", "orders-eu", "orders-us")
	h.in("orders-test", `create table customers (id int)`)
	h.in("orders-eu", `create table customers (id int)`)
	h.in("orders-us", `create table customers (id int)`)
	x := h.create(rollout.Plan{
		Name: "orders 2026-11", Note: "the new orders",
		Stages: []rollout.Stage{{Name: "test"}, {Name: "prod", Approvals: 1, Canary: 1}},
		Files: []rollout.File{
			file("V001__orders.sql", "-- The orders of a customer.\ncreate table orders (id bigint primary key, customer int, total numeric);\n\ninsert into orders select n, n, n from generate_series(1, 100) n;\n"),
			file("V002__email.sql", "create table notes (id int);\n\nalter table customers\n  add column email text;\n"),
			file("V003__index.sql", "create index orders_customer on orders (customer);\n"),
		},
	})
	b := h.Open(t)
	b.Login(h.User(t, "mia", auth.Maintainer))
	b.Go("/rollouts")
	b.WaitText("orders 2026-11")
	b.Go(onBoard(x))
	b.WaitLive()
	b.Wait("cards", `document.querySelectorAll('.run-card[data-status="NOT_STARTED"]').length === 9`)
	b.Shots("rollout-new")
	b.Click(".warnings-fold summary")
	b.WaitText("CONCURRENTLY")
	b.Shots("rollout-warnings")
	b.Click(".warnings-fold summary")

	// Somebody has the table: the second change waits, and says for whom.
	h.executes()
	holder := h.in("orders-test", `begin; lock table customers in access share mode`)
	b.ClickText("Start")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Shot("rollout-start-question")
	b.Click("#ask button[type=submit]")
	b.Wait("a mark on the page", `location.pathname === `+"`"+onBoard(x)+"`"+` && (window.mark = true)`)
	b.WaitLive()
	b.Wait("one done, one running", `document.querySelector('[data-status="DONE"]') && document.querySelector('.run-card[data-status="RUNNING"]') && document.querySelector('.run-card[data-status="PENDING"]')`)
	b.WaitText("Blocked by")
	b.Shots("rollout-running")
	task := h.task(x, "test/orders-test/2")
	b.Go(runOf(task))
	b.WaitLive()
	b.WaitText("In the database now")
	b.Wait("who blocks it", `document.querySelector(".blockers code.bad")`)
	b.Wait("the current statement", `document.querySelector(".line.is-current")?.innerText.includes("alter table")`)
	b.Shots("rollout-run")
	if _, err := holder.Exec(t.Context(), `rollback`); err != nil {
		t.Fatal(err)
	}
	b.Wait("the end of the run", `document.querySelector('.page-head [data-status="DONE"]')`)
	b.WaitText("ALTER TABLE")
	b.Shots("rollout-run-done")

	// The second stage waits for a person.
	b.Go(onBoard(x))
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	b.Wait("the wait", `document.querySelector('.page-head [data-state="waiting"]')`)
	b.WaitText("1 more needed")
	b.Shots("rollout-waiting")
	b.ClickText("Approve")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Fill("#ask [name=note]", "read it")
	b.Shot("rollout-approve-question")
	b.Click("#ask button[type=submit]")
	b.Wait("the board", `location.pathname === `+"`"+onBoard(x)+"`")
	b.Wait("the end", `document.querySelector('.page-head [data-state="done"]') && document.querySelectorAll('.run-card[data-status="DONE"]').length === 9`)
	b.WaitText("read it")
	b.Shots("rollout-done")
	b.Go("/rollouts")
	b.Wait("bars", `document.querySelectorAll(".stage-bar").length === 2`)
	b.Shots("rollouts")
	b.Go(onBoard(x) + "/plan")
	b.Shots("rollout-plan")
	b.Go(onBoard(x) + "/tasks")
	b.Shots("rollout-tasks")

	// In Korean.
	b.Go(onBoard(x))
	b.Click("#user-button")
	b.ClickText("한국어")
	b.WaitText("완료")
	b.Wait("the board in Korean", `document.documentElement.lang === "ko" && !document.querySelector(".board").innerText.includes("Done")`)
	b.WaitLive()
	b.Shots("rollout-ko")
}

// Cards change on the open page, without a reload: from available over running to
// failed, and again after a retry.
func TestBrowserRolloutFails(t *testing.T) {
	h := newHarbour(t)
	h.target("test", "a")
	x := h.create(rollout.Plan{Stages: []rollout.Stage{{Name: "test"}}, Files: []rollout.File{file("V1__x.sql", "create table one (id int);\n\ninsert into missing values (1);\n")}})
	b := h.Open(t)
	b.Login(h.User(t, "mia", auth.Maintainer))
	b.Go(onBoard(x))
	b.WaitLive()
	b.Wait("a mark", `(window.mark = true)`)
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	b.Wait("available", `document.querySelector('.run-card[data-status="AVAILABLE"]')`)
	if b.Is(`document.querySelector(".run-cause")`) {
		t.Error("what is available shows a cause")
	}
	b.Shot("rollout-available")
	h.executes()
	b.Wait("failed", `document.querySelector('.run-card[data-status="FAILED"]')`)
	b.WaitText("missing")
	if !b.Is(`window.mark`) {
		t.Error("the page was loaded again")
	}
	b.Shots("rollout-failed")
	b.Go(runOf(h.task(x, "test/a/1")))
	b.Wait("where it ended", `document.querySelector(".line.is-ended")?.innerText.includes("insert into missing")`)
	h.in("a", `create table missing (id int)`)
	b.ClickText("Retry")
	b.Wait("the end", `document.querySelector('.page-head [data-status="DONE"]')`)
	b.Wait("both attempts", `document.querySelectorAll(".attempt").length === 2`)
	b.Shots("rollout-attempts")
	b.Go(onBoard(x))
	b.Wait("done", `document.querySelector('.page-head [data-state="done"]')`)
}

// Pages of databases, for the eye.
func TestBrowserDatabases(t *testing.T) {
	h := newHarbour(t)
	b := h.Open(t)
	b.Login(h.User(t, "mia", auth.Maintainer))
	b.Go("/rollouts")
	b.Shots("rollouts-empty")
	b.Go("/databases")
	b.WaitLive()
	b.WaitText("No database yet")
	b.Shots("databases-empty")
	h.target("test", "ledger-test")
	b.WaitText("ledger-test")
	h.paper("prod", "ledger-eu")
	b.WaitText("ledger-eu")
	b.Shots("databases")
	b.Go("/new-database")
	b.Shots("new-database")
	h.in("ledger-test", `create table t (id int)`)
	if _, err := h.Rollouts.AcceptDrift(t.Context(), "ann", "ledger-test"); err != nil {
		t.Fatal(err)
	}
	h.in("ledger-test", `alter table t add column by_hand text; create table flyway_schema_history (installed_rank int, version text, description text, type text, script text, checksum int, installed_by text, installed_on timestamp default now(), execution_time int, success boolean);
		insert into flyway_schema_history values (1, '1', 'orders', 'SQL', 'V1__orders.sql', 7, 'ann', now(), 12, true)`)
	b.Go("/databases/ledger-test")
	b.Shots("database")
	b.Go("/databases/ledger-test/drift")
	b.WaitText("by_hand")
	b.Shots("database-drift")
	b.Go("/databases/ledger-test/history")
	b.ClickText("Import")
	b.Wait("the question", `document.querySelector("#ask[open] #question")`)
	b.Click("#ask button[type=submit]")
	b.WaitText("1 row is new in the history.")
	b.Shots("database-history")
}

// A rollout is made in the browser: files and a pasted script, a look at what it would
// do, and the button that creates it. Enter shows the plan, and creates nothing.
func TestBrowserNewRollout(t *testing.T) {
	h := newHarbour(t)
	b := h.Open(t)
	b.Login(h.User(t, "mia", auth.Maintainer))
	b.Go("/new-rollout")
	b.WaitText("No database yet")
	b.Shots("new-rollout-empty")
	h.target("test", "orders-test")
	h.target("prod", "orders-eu", "orders-us")
	b.Go("/rollouts")
	b.ClickText("New rollout")
	b.Wait("the form", `document.activeElement.id === "field-name"`)
	b.Fill("#field-name", "orders 2026-11")
	b.Fill(`[name="paste.version"]`, "1")
	b.Fill(`[name="paste.name"]`, "create orders")
	b.Click(`[name="paste.text"]`)
	b.Keys("create table orders (id int, customer int);")
	b.Wait("two files", `(() => {
		const files = new DataTransfer();
		files.items.add(new File(["create index on orders (customer);\n"], "V2__index.sql"));
		files.items.add(new File(["alter table orders drop column customer;\n"], "V3__drop.sql"));
		document.querySelector("#field-upload").files = files.files;
		return true;
	})()`)
	b.Wait("two stages", `(() => {
		document.querySelector('[name="stage.0.at"]').value = "1";
		document.querySelector('[name="stage.1.at"]').value = "2";
		document.querySelector('[name="stage.1.approvals"]').value = "1";
		return true;
	})()`)
	b.Shots("new-rollout")
	b.Fill("#field-note", "the new orders")
	b.Keys("\r")
	b.WaitText("What it would do")
	b.WaitText("CONCURRENTLY")
	if n := h.rollouts(); n != "0" {
		t.Fatalf("there are %s rollouts", n)
	}
	b.Shots("new-rollout-preview")
	b.ClickText("Create the rollout")
	b.Wait("the board", `document.querySelectorAll('.run-card[data-status="NOT_STARTED"]').length === 9`)
	b.WaitText("It waits to be started.")
	b.ClickText("Edit")
	b.WaitText("Approvals hold for one plan alone")
	b.Shots("rollout-edit")
	b.Fill("#field-name", "")
	b.Wait("the form without a name", `(document.querySelector("form.plan-form").noValidate = true)`)
	b.ClickText("Show what it would do")
	b.Wait("what is wrong, with the cursor there", `document.querySelector("#field-name[aria-invalid]") && document.activeElement.id === "field-name"`)
	b.Shots("rollout-edit-fault")
	b.Fill("#field-name", "orders 2026-12")
	b.ClickText("Show what it would do")
	b.ClickText("Replace the rollout")
	b.Wait("the next one", `document.querySelector("h1").innerText.includes("orders 2026-12")`)
	b.WaitText("revision 2")
	b.Click("#user-button")
	b.ClickText("한국어")
	b.WaitText("개정 2")
	b.Go("/new-rollout")
	b.Wait("the form in Korean", `document.documentElement.lang === "ko" && document.querySelector(".main").innerText.includes("미리보기")`)
	b.Shots("new-rollout-ko")
}
