package target_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// as is the same place for another user, who was granted nothing.
func (p *place) as(t *testing.T) (name string, other *place) {
	t.Helper()
	reader := *p
	if p.engine == script.Postgres {
		name = "weir_rights_" + p.one(t, "select current_database()")
		p.exec(t, "create role "+name+" login password 'x'")
		u, err := url.Parse(p.dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, "x")
		reader.dsn = u.String()
	} else {
		name = "weir_" + p.one(t, "select substr(md5(database()), 1, 12)")
		config, err := mysql.ParseDSN(p.dsn)
		if err != nil {
			t.Fatal(err)
		}
		p.exec(t, "create user "+name+" identified by 'x'", "grant select, create view on `"+config.DBName+"`.* to "+name)
		config.User, config.Passwd = name, "x"
		reader.dsn = config.FormatDSN()
	}
	t.Cleanup(func() {
		_, _ = p.db.ExecContext(context.Background(), "drop owned by "+name) // PostgreSQL alone
		kind := map[script.Engine]string{script.Postgres: "role ", script.MySQL: "user "}[p.engine]
		if _, err := p.db.ExecContext(context.Background(), "drop "+kind+name); err != nil {
			t.Error(err)
		}
	})
	return name, &reader
}

// A user who may not create tables is told so before a run, and so is nobody else.
func TestRights(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		if err := p.open(t, target.Options{}).Rights(t.Context()); err != nil {
			t.Fatalf("the owner: %v", err)
		}
		name, reader := p.as(t)
		db := reader.open(t, target.Options{})
		f := failure(t, db.Rights(t.Context()), target.CodeForbidden)
		if !strings.Contains(f.What, "may not create tables in") || !strings.Contains(f.Next, "right to create tables") {
			t.Errorf("%+v", f)
		}
		if p.engine == script.Postgres {
			p.exec(t, "grant create on schema public to "+name)
		} else {
			p.exec(t, "grant create on `"+p.one(t, "select database()")+"`.* to "+name)
		}
		if err := db.Rights(t.Context()); err != nil {
			t.Errorf("after the grant: %v", err)
		}
	})
}

// A connection that fails both with TLS and without says so once.
func TestConnectFailureInOneLine(t *testing.T) {
	db, err := target.Open(t.Context(), script.Postgres, "postgres://nobody@127.0.0.1:1/none", target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Identity(t.Context())
	f := failure(t, err, target.CodeUnreachable)
	if text := f.Error(); strings.Contains(text, "\n") || strings.Count(text, "dial error") != 1 || !strings.Contains(text, "127.0.0.1:1") {
		t.Errorf("%q", text)
	}
}
