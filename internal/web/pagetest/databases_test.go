package pagetest_test

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/rollout"
)

// A database is registered, looked at, changed, compared and removed; its address
// is on no page and in no event.
func TestDatabases(t *testing.T) {
	h := newHarbour(t)
	address := h.berth("orders")
	mia, olga := h.Login(t, "mia", auth.Maintainer), h.Login(t, "olga", auth.Operator)
	const bad = "postgres://weir:hunter2secret@127.0.0.1:1/none" // #nosec G101 -- nobody is there
	mia.Get(t, "/databases").Is(t, 200).Has(t, `href="/new-database"`)
	mia.Get(t, "/new-database").Is(t, 200).Has(t, `name="dsn"`, "never shown again")
	olga.Get(t, "/new-database").Is(t, http.StatusForbidden)
	mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "", "dsn", address)).Is(t, 422).Lacks(t, address)
	mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "test")).Is(t, 422).Has(t, "Give the address")
	mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "test", "dsn", address, "labels", "nonsense")).Is(t, 422).Has(t, "is no label").Lacks(t, address)
	if a := mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "test", "dsn", "postgres://weir:hunter2secret@[bad/x")).Lacks(t, "hunter2secret"); a.Status != 409 && a.Status != 422 {
		t.Errorf("an address that is none: %d", a.Status)
	}
	mia.Get(t, "/databases/orders").Is(t, http.StatusNotFound)
	to := mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "test", "dsn", address, "labels", "region=eu", "note", "<b>of</b> Europe")).Is(t, 303).To()
	mia.Get(t, to).Is(t, 200).Has(t, "reached", "region=eu", "&lt;b&gt;of", "Identity", "No rollout reaches it yet").Lacks(t, address, "<b>of")
	mia.Post(t, "/new-database", form("name", "orders", "engine", "postgres", "environment", "test", "dsn", address)).Is(t, 422).Has(t, "already")

	// What cannot be reached is registered with its fault.
	to = mia.Post(t, "/new-database", form("name", "gone", "engine", "postgres", "environment", "prod", "dsn", bad)).Is(t, 303).To()
	mia.Get(t, to).Is(t, 200).Has(t, "not reached").Lacks(t, "hunter2secret")
	mia.Get(t, to+"/history").Is(t, 200).Has(t, `role="alert"`).Lacks(t, "hunter2secret")
	mia.Get(t, to+"/drift").Is(t, 200).Has(t, `role="alert"`).Lacks(t, "hunter2secret")
	mia.Post(t, to+"/check", form()).Is(t, 303)
	mia.Get(t, "/databases").Is(t, 200).Has(t, "not reached", "orders", "gone")
	mia.Get(t, "/databases?environment=test").Is(t, 200).Has(t, "/databases/orders").Lacks(t, "/databases/gone")

	// Change: an empty address stays.
	mia.Get(t, "/databases/orders/change").Is(t, 200).Has(t, `value="test"`, "region=eu", "stays as it is").Lacks(t, address)
	mia.Post(t, "/databases/orders/change", form("engine", "postgres", "environment", "staging", "labels", "", "note", "")).Is(t, 303)
	d, err := h.Rollouts.CheckDatabase(t.Context(), "orders")
	if err != nil || d.Environment != "staging" || len(d.Labels) != 0 || d.Fault != "" {
		t.Fatalf("%+v, %v", d, err)
	}
	olga.Post(t, "/databases/orders/change", form("engine", "postgres", "environment", "x")).Is(t, http.StatusForbidden)

	// Drift: nothing to compare with, accepted, changed by hand, shown.
	mia.Get(t, "/databases/orders/drift").Is(t, 200).Has(t, "Nothing to compare with yet", "/databases/orders/accept")
	mia.Get(t, "/databases/orders/accept").Is(t, 200).Has(t, "one to compare with")
	mia.Post(t, "/databases/orders/accept", form()).Is(t, 303)
	mia.Get(t, "/databases/orders/drift").Is(t, 200).Has(t, "The schema is the one that was last accepted").Lacks(t, "/accept")
	h.in("orders", `create table by_hand (id int)`)
	mia.Get(t, "/databases/orders/drift").Is(t, 200).Has(t, "Somebody changed the schema", "by_hand", "is-added")
	h.Exec(t, `update weir.snapshots set drifted = true where database = 'orders'`) // as an executor does that finds it so
	mia.Get(t, "/databases").Is(t, 200).Has(t, "drifted")
	olga.Get(t, "/databases/orders/drift").Is(t, 200).Has(t, "by_hand").Lacks(t, "/databases/orders/accept")

	// What is said afterwards is in the reader's language.
	mia.Post(t, "/language", form("language", "ko", "back", "/databases")).Is(t, 303)
	mia.Get(t, mia.Post(t, "/databases/orders/check", form()).Is(t, 303).To()).Is(t, 200).Has(t, "연결되었습니다: ")
	mia.Post(t, "/language", form("language", "en", "back", "/databases")).Is(t, 303)

	mia.Get(t, "/databases/orders/delete").Is(t, 200).Has(t, "Nothing in the database is touched")
	olga.Post(t, "/databases/orders/delete", form()).Is(t, http.StatusForbidden)
	mia.Post(t, "/databases/orders/delete", form()).Is(t, 303)
	mia.Get(t, "/databases/orders").Is(t, http.StatusNotFound)
	if n := h.One(t, `select count(*)::text from weir.events e where e::text like '%hunter2secret%'`); n != "0" {
		t.Errorf("%s events tell an address", n)
	}
}

// What was applied is read from the database itself; the history of another tool
// is offered, and taken over.
func TestDatabaseHistory(t *testing.T) {
	h := newHarbour(t)
	h.target("test", "orders")
	h.in("orders", `create table goose_db_version (id serial primary key, version_id bigint not null, is_applied boolean not null, tstamp timestamp default now());
		insert into goose_db_version (version_id, is_applied) values (0, true), (1, true), (2, true)`)
	mia := h.Login(t, "mia", auth.Maintainer)
	mia.Get(t, "/databases/orders/history").Is(t, 200).Has(t, "Nothing is applied yet", "goose left a history here", "/databases/orders/import")
	h.Login(t, "vic", auth.Viewer).Get(t, "/databases/orders/history").Is(t, 200).Lacks(t, "/databases/orders/import")
	mia.Get(t, "/databases/orders/import").Is(t, 200).Has(t, "Import the history of goose?")
	mia.Post(t, "/databases/orders/import", form()).Is(t, 303)
	mia.Get(t, "/databases/orders/history").Is(t, 200).Has(t, "imported from goose_db_version").Lacks(t, "Nothing is applied yet", "left a history here")

	h.executes()
	x := h.create(rollout.Plan{Stages: []rollout.Stage{{Name: "test"}}, Files: []rollout.File{file("V3__orders.sql", "create table orders (id int);\ninsert into orders select generate_series(1, 3);")}})
	h.must(h.Rollouts.Start(t.Context(), "ann", x.ID))
	h.status(x, "test/orders/3", rollout.Done)
	task := h.task(x, "test/orders/3")
	mia.Get(t, "/databases/orders/history").Is(t, 200).Has(t, "orders", runOf(task))
	mia.Get(t, "/databases/orders").Is(t, 200).Has(t, onBoard(x), `data-state="done"`)
	mia.Get(t, runOf(task)).Is(t, 200).Has(t, "CREATE TABLE", "INSERT", `class="num">3</td>`, "applied", "is-applied").Lacks(t, "/retry", "/cancel")
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, `data-state="done"`, card(task, "DONE"))
	mia.Get(t, "/rollouts").Is(t, 200).Has(t, `data-state="done"`)
	mia.Get(t, "/rollouts").Is(t, 200).Has(t, "stage-bar") // remembered
	mia.Get(t, "/databases/none/import").Is(t, http.StatusNotFound)
}

// An address that leads to another database than before is a fault until somebody takes
// that one.
func TestAdoptDatabase(t *testing.T) {
	h := newHarbour(t)
	h.target("test", "orders")
	other := h.berth("other")
	mia, olga := h.Login(t, "mia", auth.Maintainer), h.Login(t, "olga", auth.Operator)
	mia.Get(t, "/databases/orders").Is(t, 200).Lacks(t, "/databases/orders/adopt")
	is, err := h.Rollouts.Database(t.Context(), "orders")
	if err == nil {
		err = h.Vault.Put(t.Context(), "ann", is.Secret, other, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	mia.Post(t, "/databases/orders/check", form()).Is(t, 303)
	mia.Get(t, "/databases/orders").Is(t, 200).Has(t, "/databases/orders/adopt")
	olga.Get(t, "/databases/orders").Is(t, 200).Lacks(t, "/databases/orders/adopt")
	mia.Get(t, "/databases/orders/adopt").Is(t, 200).Has(t, "Take the database that orders leads to now?", `type="hidden" name="accept" value="true"`)
	olga.Post(t, "/databases/orders/adopt", form("accept", "true")).Is(t, http.StatusForbidden)
	mia.Post(t, "/databases/orders/adopt", form("accept", "true")).Is(t, 303)
	mia.Get(t, "/databases/orders").Is(t, 200).Lacks(t, "/databases/orders/adopt")
	if d, err := h.Rollouts.CheckDatabase(t.Context(), "orders"); err != nil || d.Fault != "" {
		t.Errorf("%+v, %v", d, err)
	}
}
