package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/rollout/script"
)

// TestLarge splits a megabyte of each engine's SQL.
func TestLarge(t *testing.T) {
	var sql strings.Builder
	n := 0
	for sql.Len() < 1<<20 {
		fmt.Fprintf(&sql, "-- row %d; of many\ninsert into t (a, b) values (%d, 'text with; a semicolon'), (-1, '''');\n", n, n)
		n++
	}
	for _, engine := range []script.Engine{script.Postgres, script.MySQL} {
		steps, err := script.Steps(engine, script.Change{SQL: sql.String(), Transaction: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 1 || len(steps[0].Statements) != n {
			t.Fatalf("%s: %d steps, want one of %d statements", engine, len(steps), n)
		}
		if last := steps[0].Statements[n-1]; last.Line != 2*n || last.Index != n-1 {
			t.Errorf("%s: the last one is %d on line %d", engine, last.Index, last.Line)
		}
	}
}

// TestOneLargeStatement: one INSERT of many rows is not deep.
func TestOneLargeStatement(t *testing.T) {
	sql := "insert into t values " + strings.Repeat("(1, -2, 'x' || 'y', now()),\n", 5_000) + "(1, 2, 'z', now());"
	for _, engine := range []script.Engine{script.Postgres, script.MySQL} {
		statements, err := script.Split(engine, sql)
		if err != nil || len(statements) != 1 || statements[0].EndLine != 5_001 {
			t.Errorf("%s: %d statements, %v", engine, len(statements), err)
		}
	}
}

// TestLargeNothing: white space and comments cost no more than their length.
func TestLargeNothing(t *testing.T) {
	for _, sql := range []string{strings.Repeat("\n", 1<<20), strings.Repeat("-- x\n", 1<<17), strings.Repeat("/* */ ", 1<<17), strings.Repeat(";", 1<<19), strings.Repeat("   \n", 1<<18) + "select 1"} {
		for _, engine := range []script.Engine{script.Postgres, script.MySQL} {
			if statements, err := script.Split(engine, sql); err != nil || len(statements) > 1 {
				t.Errorf("%s, %q…: %d statements, %v", engine, sql[:6], len(statements), err)
			}
		}
	}
}

// TestDeep: what the parser's stack does not hold is refused, and the parser is
// as good as before.
func TestDeep(t *testing.T) {
	around := func(open, middle, end string, n int) string {
		return "select " + strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	for name, form := range map[string]func(n int) string{
		"brackets":   func(n int) string { return around("(", "1", ")", n) },
		"calls":      func(n int) string { return around("f(", "1", ")", n) },
		"subqueries": func(n int) string { return around("(select ", "1", ")", n) },
		"arrays":     func(n int) string { return around("array[", "1", "]", n) },
		"case":       func(n int) string { return around("case when a and b then ", "1", " end", n) },
		"not":        func(n int) string { return around("not ", "a", "", n) },
		"minus":      func(n int) string { return around("- ", "a", "", n) },
		"plus":       func(n int) string { return around("", "1", " + 1", n) },
		"concat":     func(n int) string { return around("", "a", " || a", n) },
		"casts":      func(n int) string { return around("", "a", "::text", n) },
		"collate":    func(n int) string { return around("", "a", ` collate "C"`, n) },
		"union":      func(n int) string { return around("", "1, 2", " union all select 1, 2", n) },
		"join":       func(n int) string { return around("", "1 from t", " join t on a = b and c = d", n) },
		"fields":     func(n int) string { return around("", "(a)", ".b", n) },
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for _, n := range []int{30, 95, 190, 390, 3000} {
				_, err := script.Split(script.Postgres, form(n))
				if err != nil && !strings.Contains(err.Error(), "nests too deep") {
					t.Fatalf("%d: %v", n, err)
				}
				if err != nil && strings.HasPrefix(err.Error(), "a statement") {
					t.Errorf("%d: the parser was tried and trapped", n)
				}
				if err != nil && n <= 30 {
					t.Errorf("%d is not deep: %v", n, err)
				}
				if err != nil {
					refused++
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
	if _, err := script.Split(script.Postgres, "select 1"); err != nil {
		t.Error(err)
	}
}
