package target_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

func TestBadAddresses(t *testing.T) {
	const secret = "s3cret-word"
	for _, c := range []struct {
		engine    script.Engine
		dsn, want string
	}{
		{"oracle", "x", `engine "oracle" is not known`},
		{script.Postgres, "", "is empty"},
		{script.Postgres, "postgres://u:" + secret + "@/db", "has no host"},
		{script.Postgres, "postgres://u:" + secret + "@h", "has no database"},
		{script.Postgres, "postgres://h/db", "has no user"},
		{script.Postgres, "mysql://u:" + secret + "@h/db", "is for mysql, not for postgres"},
		{script.Postgres, "postgres://u:" + secret + "@h:port/db", "the port is not a number"},
		{script.Postgres, "postgres://u:" + secret + "%zz@h/db", "write special characters"},
		{script.Postgres, "postgres://u:" + secret + "@h/db?sslmode=never", "is refused"},
		{script.Postgres, "u:" + secret + "@h/db", "neither a URL nor a list of key=value"},
		{script.Postgres, "host=h user=u dbname=d password='" + secret, "has a quote that does not end"},
		{script.Postgres, "host=h user=u dbname=d service=x", "names a service"},
		{script.MySQL, "", "is empty"},
		{script.MySQL, "u:" + secret + "@tcp(h:3306)/", "has no database"},
		{script.MySQL, "tcp(h:3306)/db", "has no user"},
		{script.MySQL, "mysql://u:" + secret + "@/db", "has no host"},
		{script.MySQL, "postgres://u:" + secret + "@h/db", "is for postgres, not for mysql"},
		{script.MySQL, "u:" + secret + "@tcp(h:3306)", "is refused"},
		{script.MySQL, "u:" + secret + "@tcp(h:3306)/db?allowAllFiles=true", "has allowAllFiles"},
		{script.MySQL, "mysql://u:" + secret + "@h/db?timeout=soon", "is refused"},
	} {
		_, err := target.Open(t.Context(), c.engine, c.dsn, target.Options{})
		f := failure(t, err, target.CodeInvalid)
		if !strings.Contains(f.What, c.want) || f.Next == "" {
			t.Errorf("%s %q: %q (%q), want %q", c.engine, strings.ReplaceAll(c.dsn, secret, "…"), f.What, f.Next, c.want)
		}
		if strings.Contains(f.Error()+f.Next, secret) {
			t.Errorf("%s: the password is in %v", c.engine, f)
		}
	}
}

func TestGoodAddresses(t *testing.T) {
	for dsn, engine := range map[string]script.Engine{
		"postgres://u:p%40w@h/db":                         script.Postgres,
		"postgresql://u@h:5433/db?sslmode=require":        script.Postgres,
		"host=h port=5433 user=u password='a b' dbname=d": script.Postgres,
		"host = h user = u dbname = d":                    script.Postgres,
		"u:p@w:x@tcp(h:3306)/db":                          script.MySQL,
		"mysql://u:p%40w@h/db?tls=skip-verify":            script.MySQL,
		"mariadb://u@h:3307/db":                           script.MySQL,
	} {
		if _, err := target.Open(t.Context(), engine, dsn, target.Options{}); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// A wrong password is said to be wrong, and not said.
func TestAWrongPasswordIsNotShown(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		const secret = "wr0ng-word"
		dsn := "postgres://nobody:" + secret + "@" + p.address + "/x"
		if p.engine == script.MySQL {
			dsn = "nobody:" + secret + "@tcp(" + p.address + ")/x"
		}
		db, err := target.Open(t.Context(), p.engine, dsn, target.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Identity(t.Context())
		var f *target.Failure
		if !errors.As(err, &f) || strings.Contains(err.Error()+f.Next, secret) {
			t.Errorf("%v", err)
		}
		w := &watch{}
		_, err = db.Apply(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"), w)
		failure(t, err, target.CodeUnreachable)
		if len(w.waits) != 0 {
			t.Errorf("a wrong password is not tried again: %q", w.waits)
		}
	})
}

// Weir's own settings are for Weir's own database.
func TestTheEnvironmentStaysOut(t *testing.T) {
	p := onPostgres(t)
	t.Setenv("PGPASSWORD", "of-weirs-own-database")
	t.Setenv("PGUSER", "somebody")
	_, err := target.Open(t.Context(), script.Postgres, "postgres://"+p.address+"/db", target.Options{})
	failure(t, err, target.CodeInvalid)
}

func FuzzAddress(f *testing.F) {
	f.Add("postgres://u:s3cret-word@h/db", true)
	f.Add("u:s3cret-word@tcp(h)/db", false)
	f.Add("host=h password='s3cret-word' user=u", true)
	f.Fuzz(func(t *testing.T, dsn string, postgres bool) {
		engine := script.MySQL
		if postgres {
			engine = script.Postgres
		}
		for _, form := range []string{dsn, strings.ReplaceAll(dsn, "s3cret-word", "s3cret-word%")} {
			if _, err := target.Open(t.Context(), engine, form, target.Options{}); err != nil && strings.Contains(err.Error(), "s3cret-word") {
				t.Errorf("the password is in %v", err)
			}
		}
	})
}
