package script_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
)

func folder(files ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		out[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return out
}

func TestReadDirOrder(t *testing.T) {
	changes, ignored, err := script.ReadDir(folder(
		"R__views.sql", "create or replace view v as select 1;",
		"R__aggregates.sql", "select 1;",
		"V10__ten.sql", "select 1;",
		"V2.1__two_one.sql", "select 1;",
		"V2__two.sql", "select 1;",
		"U2__two.sql", "select 1;",
		"0003_three.up.sql", "insert into t values (1);",
		"0003_three.down.sql", "select 1;",
		"20260101120000_goose.sql", "-- +goose Up\nselect 1;\n-- +goose Down\nselect 2;\n",
		"004.sql", "select 1;",
		"00005_x.go", "package x",
		"V2__two.sql.conf", "# how it runs\nexecuteInTransaction=false\n",
		"afterMigrate.sql", "select 1;",
		"B1__base.sql", "select 1;",
		"README.md", "hello",
		".hidden.sql", "select 1;",
		"old/V1__x.sql", "select 1;",
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, c.Version+"/"+c.Name)
		if c.Checksum != script.Checksum(c.SQL) || c.File == "" {
			t.Errorf("%+v", c)
		}
		if c.Transaction == (c.Version == "2") {
			t.Errorf("%s: transaction %t", c.File, c.Transaction)
		}
		if c.Repeatable != strings.HasPrefix(c.File, "R__") {
			t.Errorf("%s: repeatable %t", c.File, c.Repeatable)
		}
	}
	if want := "2/two 2.1/two_one 3/three 4/004 10/ten 20260101120000/goose /aggregates /views"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	got = nil
	for _, i := range ignored {
		got = append(got, i.File)
		if i.Why == "" {
			t.Errorf("%s: no reason", i.File)
		}
	}
	if want := ".hidden.sql 00005_x.go 0003_three.down.sql B1__base.sql README.md U2__two.sql V2__two.sql.conf afterMigrate.sql old"; strings.Join(got, " ") != want {
		t.Errorf("ignored %s\nwant    %s", strings.Join(got, " "), want)
	}
}

// TestReadDirRefuses keeps the errors of folders, word for word.
func TestReadDirRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"two of one version":    {[]string{"V001__a.sql", "", "0001_b.sql", ""}, "0001_b.sql: V001__a.sql and 0001_b.sql are both version 1; give one of them the next free version"},
		"trailing zero":         {[]string{"V1.0__a.sql", "", "V1__b.sql", ""}, "V1__b.sql: V1.0__a.sql and V1__b.sql are both version 1; give one of them the next free version"},
		"two repeatables":       {[]string{"R__a.sql", "", "R__A.sql", ""}, "R__a.sql: R__A.sql and R__a.sql have one name; rename one of them: a change that repeats is known by its name"},
		"one underscore":        {[]string{"V1_a.sql", ""}, "V1_a.sql: V1_a.sql looks like a name of Flyway but is none; put two underscores before the title: V1.2__title.sql, or R__title.sql for one that repeats"},
		"no version":            {[]string{"users.sql", ""}, "users.sql: the name has no version, so its place in the order is unknown; name it V1__title.sql, 0001_title.sql or 0001_title.up.sql; R__title.sql if it repeats"},
		"date":                  {[]string{"2026-01-31_users.sql", ""}, "2026-01-31_users.sql: 2026-01-31_users.sql begins with a date, and its dashes make it unclear where the version ends; write the date as one number: 20260131_title.sql, or 20260131120000_title.sql if there may be two in a day"},
		"too large":             {[]string{"999999999999999999_a.sql", ""}, "999999999999999999_a.sql: version 999999999999999999 is too long to be put in order; use fewer or smaller numbers: up to 17 digits, or about seven short numbers with dots"},
		"settings":              {[]string{"V1__a.sql", "", "V1__a.sql.conf", "executeInTransaction=maybe"}, "V1__a.sql.conf: executeInTransaction=maybe is neither true nor false; write executeInTransaction=false"},
		"goose without up":      {[]string{"1_a.sql", "-- +goose Down\nselect 1;"}, "1_a.sql:1:1: -- +goose Down stands above Up; write the Up part first"},
		"goose only with parts": {[]string{"1_a.sql", "-- +goose StatementBegin\nselect 1;"}, "1_a.sql: the file has annotations of goose but no -- +goose Up; write -- +goose Up above the first statement"},
		"goose above up":        {[]string{"1_a.sql", "select 0;\n-- +goose Up\nselect 1;"}, `1_a.sql:2:1: "select 0;" stands above -- +goose Up; move it below: goose would not run it`},
		"goose twice":           {[]string{"1_a.sql", "-- +goose Up\n-- +goose Up\n"}, "1_a.sql:2:1: -- +goose Up stands twice, or below Down; keep one Up part, above Down"},
		"goose environment":     {[]string{"1_a.sql", "-- +goose Up\n-- +goose ENVSUB ON\n"}, "1_a.sql:2:1: -- +goose ENVSUB puts variables of an environment into the script; write the values out: what was approved must be what runs"},
		"goose unknown":         {[]string{"1_a.sql", "-- +goose Upp\n"}, "1_a.sql:1:1: -- +goose Upp is not known; goose has Up, Down, StatementBegin, StatementEnd and NO TRANSACTION"},
		"UTF-16":                {[]string{"1_a.sql", "\xff\xfes\x00"}, "1_a.sql:1:1: the file is UTF-16; save it as UTF-8"},
		"NUL":                   {[]string{"1_a.sql", "select 1;\n\x00"}, "1_a.sql:2:1: the text has a NUL byte; take it out, or save the file as UTF-8"},
		"Latin-1":               {[]string{"1_a.sql", "-- \xe1"}, "1_a.sql:1:4: byte 0xe1 is not UTF-8; save the file as UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := script.ReadDir(folder(test.files...))
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	c, err := script.Read("changes/V1_2__add users.sql", []byte("\ufeff-- weir: transaction=off lock_timeout=2s\n\n--weir:statement_timeout=10m\r\n-- another comment\nalter table t add x int;\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Version != "1.2" || c.Name != "add users" || c.Transaction || c.LockTimeout != 2*time.Second || c.StatementTimeout != 10*time.Minute || c.Unlimited || c.Kind != script.DDL {
		t.Errorf("%+v", c)
	}
	if strings.HasPrefix(c.SQL, "\ufeff") || c.File != "changes/V1_2__add users.sql" {
		t.Errorf("%q in %s", c.SQL, c.File)
	}
	c, err = script.Read("fix.sql", []byte("-- weir: statement_timeout=unlimited kind=data\nselect fix();"))
	if err != nil || c.Version != "" || c.Name != "fix" || !c.Unlimited || c.Kind != script.Data || !c.Transaction {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestChecksum: the same file on another system is the same change.
func TestChecksum(t *testing.T) {
	sum := func(text string) string {
		c, err := script.Read("1_a.sql", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Checksum
	}
	if sum("select 1;\nselect 2;\n") != sum("\ufeffselect 1;\r\nselect 2;\r\n") {
		t.Error("line ends and the byte order mark count")
	}
	if sum("select 1;") == sum("select 2;") {
		t.Error("the text does not count")
	}
	if sum("-- +goose Up\nselect 1;\n-- +goose Down\nselect 2;") != sum("-- +goose Up\nselect 1;\n-- +goose Down\nselect 3;") {
		t.Error("the Down part counts")
	}
}

// TestGooseLines: a place in the Up part is a place in the file.
func TestGooseLines(t *testing.T) {
	c, err := script.Read("1_a.sql", []byte("-- about\n-- +goose NO TRANSACTION\n-- +goose Up\nselect 1;\n-- +goose StatementBegin\nselect 2;\n-- +goose StatementEnd\n-- +goose Down\nselect 3;\n"))
	if err != nil {
		t.Fatal(err)
	}
	statements, err := script.Split(script.MySQL, c.SQL)
	if err != nil || len(statements) != 2 || statements[0].Line != 4 || statements[1].Line != 6 || statements[1].Text != "select 2" || c.Transaction {
		t.Errorf("%+v, %+v, %v", c, statements, err)
	}
}

func TestDirectiveFaults(t *testing.T) {
	for text, want := range map[string]string{
		"-- weir: transaction=maybe":              "x.sql:1:10: transaction=maybe is neither on nor off; write transaction=off if the statements of this file must not share a transaction",
		"-- a\n-- weir: kind=sdl":                 "x.sql:2:10: kind=sdl is neither ddl nor data; write kind=data if other changes of data may run beside this one",
		"-- weir: lock_timeout=2":                 "x.sql:1:10: lock_timeout=2 is not a time; write it with its unit: 500ms, 2s, 10m",
		"-- weir: lock_timeout=0s":                "x.sql:1:10: lock_timeout=0s is no limit; write a time of at least 1ms",
		"-- weir: statement_timeout=0s":           "x.sql:1:10: statement_timeout=0s is no limit; write a time of at least 1ms, or statement_timeout=unlimited",
		"-- weir: timeout=2s":                     "x.sql:1:10: there is no directive timeout; there are transaction, lock_timeout, statement_timeout and kind",
		"-- weir: transaction":                    `x.sql:1:10: directive "transaction" has no value; write key=value, without spaces: -- weir: transaction=off lock_timeout=2s`,
		"-- weir: kind=ddl\n-- weir: kind=data":   "x.sql:2:10: directive kind is given twice; keep one of them",
		"-- weir: statement_timeout=-5s kind=ddl": "x.sql:1:10: statement_timeout=-5s is no limit; write a time of at least 1ms, or statement_timeout=unlimited",
	} {
		_, err := script.Read("x.sql", []byte(text+"\nselect 1;"))
		if err == nil || err.Error() != want {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestReadRefusesOtherRoles(t *testing.T) {
	for _, name := range []string{"U1__a.sql", "0001_a.down.sql", "a.down.sql", "B1__a.sql", "beforeMigrate.sql", "V1_a.sql"} {
		if c, err := script.Read(name, []byte("select 1;")); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestKind: data only if nothing else is in it, however it is quoted.
func TestKind(t *testing.T) {
	for text, want := range map[string]script.Kind{
		"insert into t values (1);":                                     script.Data,
		"-- x\nUPDATE t SET x = 1; delete from t where x = 2":           script.Data,
		"begin; insert into t values (1); commit;":                      script.Data,
		"set x = 1; with a as (select 1) insert into t select * from a": script.Data,
		"insert into t values ('; drop table t')":                       script.Data,
		"insert into t values ('a\\'); drop table t; --')":              script.DDL,
		"insert into t values (1); create table u (x int);":             script.DDL,
		"select f();":                       script.DDL,
		"call p();":                         script.DDL,
		"do $$ begin end $$;":               script.DDL,
		"truncate t;":                       script.DDL,
		"":                                  script.DDL,
		"-- nothing":                        script.DDL,
		"set x = 1;":                        script.DDL,
		"insert into t values ('open":       script.DDL,
		"with a as (select 1) select f(a)":  script.DDL,
		"/*!40000 DROP TABLE t */":          script.DDL,
		"insert into t values ($$a; b$$);;": script.DDL, // MySQL has no $$, so for it b$$ is a statement
	} {
		c, err := script.Read("x.sql", []byte(text))
		if err != nil || c.Kind != want {
			t.Errorf("%q is %s, want %s (%v)", text, c.Kind, want, err)
		}
	}
}
