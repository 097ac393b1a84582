package pagetest_test

import (
	"testing"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/mariatest"
	"github.com/weirhq/weir/internal/rollout"
)

// A MariaDB from the first page to the last: registered, changed by a rollout that is
// created on the page, and its run shown statement by statement.
func TestMariaDB(t *testing.T) {
	db := mariatest.New(t)
	h := newHarbour(t)
	mia := h.Login(t, "mia", auth.Maintainer)
	to := mia.Post(t, "/new-database", form("name", "shop", "engine", "mysql", "environment", "test", "dsn", db.DSN)).Is(t, 303).To()
	mia.Get(t, to).Is(t, 200).Has(t, "reached", "MariaDB", "mysql").Lacks(t, "not reached", db.DSN)
	v := form("name", "shop 1", "step", "preview", "paste.version", "1", "paste.name", "orders", "paste.text", "create table orders (id int);\ncreate index by_id on orders (id);\ninsert into orders values (1), (2), (3);\n",
		"stage.0.name", "test", "stage.0.at", "1", "stage.0.promote", "auto", "stage.0.on_failure", "stop")
	page := mia.Post(t, "/new-rollout", v).Is(t, 200).Has(t, "What it would do", "shop", "mysql", "CREATE TABLE", "CREATE INDEX", "outside of a transaction").Lacks(t, "would fail", db.DSN)
	x := h.rolloutAt(mia.Post(t, "/new-rollout", looked(t, page, v)).Is(t, 303).To())
	h.executes()
	mia.Post(t, onBoard(x)+"/start", form()).Is(t, 303)
	h.status(x, "test/shop/1", rollout.Done)
	task := h.task(x, "test/shop/1")
	mia.Get(t, onBoard(x)).Is(t, 200).Has(t, card(task, "DONE"))
	mia.Get(t, runOf(task)).Is(t, 200).Has(t, "CREATE TABLE", "CREATE INDEX", "INSERT", `class="num">3</td>`, "is-applied", "by_id").Lacks(t, db.DSN)
	mia.Get(t, "/databases/shop/history").Is(t, 200).Has(t, "orders", runOf(task))
	mia.Get(t, "/databases/shop/drift").Is(t, 200).Lacks(t, `role="alert"`)
	v.Set("step", "preview")
	mia.Post(t, "/new-rollout", v).Is(t, 200).Has(t, "1 run has nothing to do")
	mia.Get(t, "/databases?engine=mysql").Is(t, 200).Has(t, "/databases/shop")
}
