package script_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

// seed gives a fuzzer all scripts of the goldens, of both engines.
func seed(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/split/*/*.sql", "testdata/lint/*/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
}

// fuzzSplit holds for every text: it is refused with a place and a way out, or
// its statements cover it, the same each time.
func fuzzSplit(t *testing.T, engine script.Engine, sql string) []script.Statement {
	statements, err := script.Split(engine, sql)
	if err != nil {
		var fault *script.Fault
		if !errors.As(err, &fault) || fault.What == "" || fault.Next == "" {
			t.Fatalf("not a fault with advice: %v", err)
		}
		return nil
	}
	checkCover(t, engine, sql, statements)
	again, err := script.Split(engine, sql)
	if err != nil || !reflect.DeepEqual(statements, again) {
		t.Fatalf("another answer the second time: %v", err)
	}
	c := script.Change{SQL: sql, Transaction: true}
	if _, err := script.Lint(engine, c, nil); err != nil {
		return nil
	}
	steps, err := script.Steps(engine, c)
	if err != nil {
		t.Fatalf("Lint takes it and Steps does not: %v", err)
	}
	last := -1
	for _, step := range steps {
		for _, s := range step.Statements {
			if s.Index <= last {
				t.Fatalf("statement %d comes after %d", s.Index, last)
			}
			if s.Alone && (len(step.Statements) > 1 || step.Transaction) {
				t.Fatalf("statement %d is not alone", s.Index)
			}
			last = s.Index
		}
	}
	return statements
}

func FuzzSplitPostgres(f *testing.F) {
	seed(f)
	// To load the parser takes longer than a fuzzer lets one text take.
	if _, err := script.Split(script.Postgres, "select 1"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, s := range fuzzSplit(t, script.Postgres, sql) {
			// One statement by itself is that statement.
			one, err := script.Split(script.Postgres, s.Text)
			if err != nil || len(one) != 1 || one[0].Text != s.Text || one[0].Tag != s.Tag {
				t.Fatalf("%q splits into %d: %v", s.Text, len(one), err)
			}
		}
	})
}

func FuzzSplitMySQL(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, sql string) { fuzzSplit(t, script.MySQL, sql) })
}

func FuzzRead(f *testing.F) {
	f.Add("V1__a.sql", "-- weir: transaction=off\nselect 1;")
	f.Add("20260101120000_a.sql", "-- +goose Up\n-- +goose StatementBegin\nselect 1;\n-- +goose StatementEnd\n-- +goose Down\n")
	f.Add("0001_a.up.sql", "insert into t values (1);")
	f.Add("R__a.sql", "\ufeffselect $$;$$\r\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		c, err := script.Read(name, []byte(text))
		if err != nil {
			return
		}
		if c.Checksum != script.Checksum(c.SQL) || c.Kind != script.DDL && c.Kind != script.Data {
			t.Fatalf("%+v", c)
		}
		if c.Version == "" {
			return
		}
		if same, err := script.Canonical(c.Version); err != nil || same != c.Version {
			t.Fatalf("version %s is written %s: %v", c.Version, same, err)
		}
		if _, err := script.Rank(c.Version); err != nil {
			t.Fatal(err)
		}
	})
}
