package cli

import (
	"context"
	database "database/sql"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
)

// newTarget is target VARIABLE: it makes an empty database in the script's cluster and puts its
// address into a variable.
func newTarget(ts *testscript.TestScript, _ bool, args []string) {
	at := ts.Getenv("URL")
	if at == "" {
		at = ts.Getenv("WEIR_DATABASE_URL")
	}
	u, err := url.Parse(at)
	ts.Check(err)
	name := strings.Replace(strings.TrimPrefix(u.Path, "/"), "weir_test_", "weir_target_", 1) + "_" + strings.ToLower(args[0])
	conn, err := pgx.Connect(context.Background(), at)
	ts.Check(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), `create database `+pgx.Identifier{name}.Sanitize())
	ts.Check(err)
	ts.Defer(func() {
		conn, err := pgx.Connect(context.Background(), at)
		ts.Check(err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), `drop database if exists `+pgx.Identifier{name}.Sanitize()+` with (force)`)
		ts.Check(err)
	})
	u.Path = "/" + name
	ts.Setenv(args[0], u.String())
}

// inTarget is in VARIABLE STATEMENT: it runs a statement in the database of that variable.
func inTarget(ts *testscript.TestScript, _ bool, args []string) {
	conn, err := pgx.Connect(context.Background(), ts.Getenv(args[0]))
	ts.Check(err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), strings.Join(args[1:], " "))
	ts.Check(err)
}

// inMaria is maria STATEMENT: it runs a statement in the script's MariaDB.
func inMaria(ts *testscript.TestScript, _ bool, args []string) {
	db, err := database.Open("mysql", ts.Getenv("MARIA_DSN"))
	ts.Check(err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), strings.Join(args, " "))
	ts.Check(err)
}
