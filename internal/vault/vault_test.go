package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/testdb"
)

// one reads one row.
func one[T any](t *testing.T, db *testdb.DB, sql string, args ...any) (out T) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func open(t *testing.T, v *Vault, name string) string {
	t.Helper()
	values, err := v.Open(t.Context(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return values[name]
}

func TestASecretIsSetOpenedListedAndRemoved(t *testing.T) {
	db := testdb.New(t)
	v := New(db.Pool, RandomKeys(), nil)
	ctx := t.Context()
	for n, value := range []string{"one", strings.Repeat("x", valueMost), "zwei\n\x00\xff"} {
		if err := v.Put(ctx, "ann", "DB_PASSWORD", value, "for the shop"); err != nil {
			t.Fatal(err)
		}
		if got := open(t, v, "DB_PASSWORD"); got != value {
			t.Errorf("version %d opens as %d bytes", n+1, len(got))
		}
	}
	if err := v.Put(ctx, "ben", "other", "1", ""); err != nil {
		t.Fatal(err)
	}
	all, err := v.List(ctx)
	if err != nil || len(all) != 2 || all[0].Name != "DB_PASSWORD" || all[0].Version != 3 || all[0].By != "ann" || all[0].Note != "for the shop" || all[1].By != "ben" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := v.Open(ctx, []string{"other", "none"}); err == nil || problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("a secret that is not there: %v", err)
	}
	if err := v.Delete(ctx, "ann", "DB_PASSWORD"); err != nil {
		t.Fatal(err)
	}
	if err := v.Delete(ctx, "ann", "DB_PASSWORD"); problem.Explain(err).Kind != problem.NotFound {
		t.Errorf("removed twice: %v", err)
	}
	if err := v.Put(ctx, "ann", "DB_PASSWORD", "again", ""); err != nil || open(t, v, "DB_PASSWORD") != "again" {
		t.Errorf("set anew: %v", err)
	}
	got := one[string](t, db, `select string_agg(concat_ws(' ', type, subject, source, data->>'version'), ', ' order by seq) from weir.events where kind = 'secret'`)
	if want := "set DB_PASSWORD ann 1, set DB_PASSWORD ann 2, set DB_PASSWORD ann 3, set other ben 1, removed DB_PASSWORD ann, set DB_PASSWORD ann 1"; got != want {
		t.Errorf("the timeline says %s", got)
	}
}

func TestBadSecretsAreRefusedWithoutTheirValue(t *testing.T) {
	v := New(testdb.New(t).Pool, RandomKeys(), nil)
	for field, set := range map[string][2]string{
		"name": {"1a", "canary-1"}, "name ": {"a-b", "canary-1"}, "name  ": {"", "canary-1"}, "name   ": {strings.Repeat("a", 101), "canary-1"},
		"value": {"a", ""}, "value ": {"a", " \n"}, "value  ": {"a", "canary-1" + strings.Repeat("x", valueMost)},
	} {
		err := v.Put(t.Context(), "ann", set[0], set[1], "")
		var p *problem.Problem
		if !errors.As(err, &p) || p.Field != strings.TrimSpace(field) || strings.Contains(err.Error()+p.Next, "canary-1") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := New(v.pool, Keys{}, nil).Put(t.Context(), "ann", "a", "b", ""); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("without keys: %v", err)
	}
}

// A row of the database opens as what it is, or not at all.
func TestARowCannotBePassedOffAsAnother(t *testing.T) {
	db := testdb.New(t)
	v := New(db.Pool, RandomKeys(), nil)
	for _, name := range []string{"a", "b"} {
		if err := v.Put(t.Context(), "", name, "value of "+name, ""); err != nil {
			t.Fatal(err)
		}
	}
	for what, change := range map[string]string{
		"another's":  `update weir.secrets set sealed = (select sealed from weir.secrets where name = 'b') where name = 'a'`,
		"version":    `update weir.secrets set version = 7 where name = 'a'`,
		"one bit":    `update weir.secrets set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where name = 'a'`,
		"its format": `update weir.secrets set sealed = set_byte(sealed, 0, 9) where name = 'a'`,
		"its end":    `update weir.secrets set sealed = substr(sealed, 1, 5) where name = 'a'`,
		"its key":    `update weir.secrets set key_id = '00000000' where name = 'a'`,
	} {
		tx, err := db.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		var b box
		err = tx.QueryRow(t.Context(), `select name, version, key_id, sealed from weir.secrets where name = 'a'`).Scan(&b.Name, &b.Version, &b.KeyID, &b.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		if value, err := v.keys.unseal(b); err == nil {
			t.Errorf("%s: it opens as %q", what, value)
		} else if !strings.Contains(err.Error(), "secret a ") {
			t.Errorf("%s: %v", what, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if open(t, v, "a") != "value of a" {
		t.Error("it does not open as it was")
	}
}

func TestRotationReplacesTheKeyAndNotTheSecret(t *testing.T) {
	db := testdb.New(t)
	path := filepath.Join(t.TempDir(), "keys")
	load := func() Keys {
		keys, err := LoadKeys(path, true)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	old := New(db.Pool, load(), nil)
	const count = rotateBatch + 5
	for n := range count {
		if err := old.Put(t.Context(), "", fmt.Sprintf("s%03d", n), fmt.Sprint("value ", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := AddKey(path); err != nil {
		t.Fatal(err)
	}
	now := New(db.Pool, load(), nil)
	if open(t, now, "s000") != "value 0" {
		t.Error("the old key does not open any more")
	}
	if r, err := now.Rotate(t.Context()); err != nil || r.Sealed != count || r.Before != 0 || r.Left != 0 || r.Key != now.keys.IDs()[0] {
		t.Errorf("rotated %+v of %d: %v", r, count, err)
	}
	if r, err := now.Rotate(t.Context()); err != nil || r.Sealed != 0 || r.Before != count {
		t.Errorf("rotated %+v again: %v", r, err)
	}
	now.keys.keys = now.keys.keys[:1] // the old line is removed
	if got := open(t, now, fmt.Sprintf("s%03d", count-1)); got != fmt.Sprint("value ", count-1) {
		t.Errorf("got %q", got)
	}
	if _, err := old.Open(t.Context(), []string{"s000"}); err == nil || !strings.Contains(err.Error(), "not in the key file") {
		t.Errorf("the old key alone: %v", err)
	}
	if n := one[int](t, db, `select max(version) from weir.secrets`); n != 1 {
		t.Errorf("rotation made version %d", n)
	}
}

// A running server sees each step of a rotation: the new key, what another process sealed
// with it, and that the old line is gone.
func TestRotationBesideAServer(t *testing.T) {
	db := testdb.New(t)
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "keys")
	load := func() Keys {
		keys, err := LoadKeys(path, true)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	server := New(db.Pool, load(), nil).Follow(path)
	for _, name := range []string{"one", "two", "broken"} {
		if err := server.Put(ctx, "", name, "value of "+name, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Pool.Exec(ctx, `update weir.secrets set sealed = '\x01' where name = 'broken'`); err != nil {
		t.Fatal(err)
	}
	if err := AddKey(path); err != nil {
		t.Fatal(err)
	}
	r, err := New(db.Pool, load(), nil).Rotate(ctx)
	if err != nil || r.Sealed != 2 || r.Left != 1 || len(r.Failed) != 1 || r.Failed[0].Name != "broken" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := open(t, server, "two"); got != "value of two" {
		t.Errorf("the server opens %q", got)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.Put(ctx, "", "three", "value of three", ""); err != nil {
		t.Fatal(err)
	}
	if key := one[string](t, db, `select key_id from weir.secrets where name = 'three'`); key != r.Key {
		t.Errorf("sealed with key %s, which is no longer in the file; it has %s", key, r.Key)
	}
	// A half-written file changes nothing.
	if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, server, "three"); got != "value of three" {
		t.Errorf("the server opens %q", got)
	}
}

// A rotation that has read a secret does not write over one that was set since then, nor
// over a seal that another rotation made.
func TestRotationLeavesWhatWasSetMeanwhile(t *testing.T) {
	db := testdb.New(t)
	keys := RandomKeys()
	v := New(db.Pool, keys, nil)
	for _, value := range []string{"old", "new"} {
		if err := v.Put(t.Context(), "", "name", value, ""); err != nil {
			t.Fatal(err)
		}
	}
	for what, call := range map[string]string{
		"of an older version": `select weir.reseal_secret('name', 1, s.key_id, '\x00', 'other') from weir.secrets s`,
		"of another key":      `select weir.reseal_secret('name', 2, 'gone', '\x00', 'other')`,
	} {
		if one[bool](t, db, call) {
			t.Errorf("a seal %s was taken", what)
		}
	}
	if got := open(t, v, "name"); got != "new" {
		t.Errorf("it opens as %q", got)
	}
}

func TestTwoWhoSetASecretBothSetIt(t *testing.T) {
	db := testdb.New(t)
	v := New(db.Pool, RandomKeys(), nil)
	const each = 4
	var all sync.WaitGroup
	for who := range each {
		all.Go(func() {
			for n := range each {
				if err := v.Put(t.Context(), "", "shared", fmt.Sprint(who, " ", n), ""); err != nil && problem.Explain(err).Kind != problem.Conflict {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	version := one[int](t, db, `select version from weir.secrets`)
	if set := one[int](t, db, `select count(*) from weir.events where kind = 'secret' and type = 'set'`); set != version || version < each {
		t.Errorf("version %d after %d events", version, set)
	}
	if open(t, v, "shared") == "" {
		t.Error("it does not open")
	}
}

// The canary value is in no table, in no log line, in no error.
func TestACanaryIsNowhere(t *testing.T) {
	db := testdb.New(t)
	const canary = "canary-7f3a9c-value"
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	keys := RandomKeys()
	v := New(db.Pool, keys, log)
	ctx := t.Context()
	var said []error
	say := func(err error) { said = append(said, err) }
	say(v.Put(ctx, "ann", "CANARY", canary, "a bird"))
	say(v.Put(ctx, "ann", "CANARY", canary+"2", "a bird"))
	say(v.Put(ctx, "ann", "no-name", canary, ""))
	say(v.Put(ctx, "ann", "LONG", canary+strings.Repeat("x", valueMost), ""))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	say(v.Put(gone, "ann", "CANARY", canary, ""))
	v.keys = newKeys(randomBits(), keys.keys[0].bits)
	if r, err := v.Rotate(ctx); r.Sealed != 1 || err != nil {
		t.Errorf("rotated %+v: %v", r, err)
	}
	_, err := New(db.Pool, keys, log).Open(ctx, []string{"CANARY"})
	say(err)
	if _, err := db.Pool.Exec(ctx, `update weir.secrets set version = 9`); err != nil {
		t.Fatal(err)
	}
	_, err = v.Open(ctx, []string{"CANARY"})
	say(err)
	say(v.Delete(ctx, "ann", "NONE"))
	for _, err := range said {
		if err != nil && strings.Contains(fmt.Sprintf("%v %+v %#v %s", err, err, err, problem.Explain(err).Next), "canary-7f3a9c") {
			t.Errorf("an error tells the value: %v", err)
		}
	}
	if strings.Contains(logged.String(), "canary-7f3a9c") {
		t.Errorf("the log tells the value: %s", logged.String())
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary)} {
		for _, table := range tables(t, db) {
			if n := one[int](t, db, `select count(*) from `+table+` x where x::text like '%' || $1 || '%'`, form); n > 0 {
				t.Errorf("%s holds the value", table)
			}
		}
	}
}

func tables(t *testing.T, db *testdb.DB) []string {
	t.Helper()
	rows, err := db.Pool.Query(t.Context(), `select c.oid::regclass::text from pg_class c where c.relnamespace = 'weir'::regnamespace and c.relkind in ('r', 'p')`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 10 {
		t.Fatalf("%d tables: %v", len(names), err)
	}
	return names
}

func TestNobodyButTheServerReadsSecrets(t *testing.T) {
	db := testdb.New(t)
	for _, role := range []string{"weir_client", "weir_worker"} {
		if one[bool](t, db, `select has_table_privilege($1, 'weir.secrets', 'select')`, role) {
			t.Errorf("%s may read the table", role)
		}
		for _, function := range []string{"put_secret", "drop_secret", "reseal_secret"} {
			if one[bool](t, db, `select bool_or(has_function_privilege($1, p.oid, 'execute')) from pg_proc p where p.pronamespace = 'weir'::regnamespace and p.proname = $2`, role, function) {
				t.Errorf("%s may call %s", role, function)
			}
		}
	}
}
