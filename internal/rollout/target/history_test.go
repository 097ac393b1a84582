package target_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

func TestDecide(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	history := []target.Entry{
		{Name: "views", Checksum: "v2", Task: "t9", AppliedAt: at},
		{Name: "views", Checksum: "v1", Task: "t8", AppliedAt: at},
		{Version: "7.1", Checksum: "b", AppliedAt: at},
		{Version: "7", AppliedAt: at}, // imported: no checksum
		{Version: "3", Kind: target.KindBaseline, AppliedAt: at},
		{Version: "not a version", AppliedAt: at},
	}
	for name, c := range map[string]struct {
		run     target.Run
		applied bool
		code    string
	}{
		"new":                        {target.Run{Change: script.Change{Version: "8", Checksum: "x"}}, false, ""},
		"applied":                    {target.Run{Change: script.Change{Version: "7.1", Checksum: "b"}}, true, ""},
		"applied by another tool":    {target.Run{Change: script.Change{Version: "7", Checksum: "x"}}, true, ""},
		"below the baseline":         {target.Run{Change: script.Change{Version: "2", Checksum: "x"}}, true, ""},
		"another text":               {target.Run{Change: script.Change{Version: "7.1", Checksum: "x"}}, false, target.CodeChecksum},
		"out of order":               {target.Run{Change: script.Change{Version: "5", Checksum: "x"}}, false, target.CodeOrder},
		"out of order with leave":    {target.Run{OutOfOrder: true, Change: script.Change{Version: "5", Checksum: "x"}}, false, ""},
		"no version":                 {target.Run{Task: "t1", Change: script.Change{Name: "fix", Checksum: "x"}}, false, ""},
		"no version, the same task":  {target.Run{Task: "t9", Change: script.Change{Name: "views", Checksum: "x"}}, true, ""},
		"repeatable, as it is":       {target.Run{Task: "t1", Change: script.Change{Name: "views", Checksum: "v2", Repeatable: true}}, true, ""},
		"repeatable, as it once was": {target.Run{Task: "t1", Change: script.Change{Name: "views", Checksum: "v1", Repeatable: true}}, false, ""},
		"no version to speak of":     {target.Run{Change: script.Change{Version: "x?", Checksum: "x"}}, false, target.CodeInvalid},
	} {
		applied, refused := target.Decide(history, c.run)
		code := ""
		if refused != nil {
			code = refused.Code
		}
		if (applied != nil) != c.applied || code != c.code {
			t.Errorf("%s: applied %v, refused %v; want %v, %q", name, applied, refused, c.applied, c.code)
		}
	}
}

func TestMarkApplied(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V1__a.sql", "create table a (id int);")
		for range 2 { // twice is once
			if err := db.MarkApplied(t.Context(), run, "ann", "made by hand"); err != nil {
				t.Fatal(err)
			}
		}
		list, err := db.History(t.Context())
		if err != nil || len(list) != 1 || list[0].By != "ann" || list[0].Note != "made by hand" {
			t.Fatalf("%+v, %v", list, err)
		}
		result, err := db.Apply(t.Context(), run, &watch{})
		if err != nil || !result.Replayed {
			t.Errorf("%+v, %v", result, err)
		}
		changed := run
		changed.Change.Checksum = "other"
		failure(t, db.MarkApplied(t.Context(), changed, "ann", "x"), target.CodeChecksum)
	})
}

func TestHistoryOfADatabaseWithoutOne(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		db := p.open(t, target.Options{})
		list, err := db.History(t.Context())
		if err != nil || len(list) != 0 {
			t.Errorf("%+v, %v", list, err)
		}
		f, err := db.Foreign(t.Context())
		if f != nil || err != nil {
			t.Errorf("%+v, %v", f, err)
		}
		verdict, _, err := db.Resolve(t.Context(), p.change(t, 1, "V1__a.sql", "create table a (id int);"))
		if verdict != target.NotApplied || err != nil {
			t.Errorf("%s, %v", verdict, err)
		}
		snap, err := db.Snapshot(t.Context())
		if err != nil || strings.Contains(snap.Text, "weir_") {
			t.Errorf("looking left something behind: %q, %v", snap.Text, err)
		}
	})
}

func TestImport(t *testing.T) {
	stamp := map[script.Engine]string{script.Postgres: "timestamp", script.MySQL: "datetime"}
	for tool, c := range map[string]struct {
		make  []string
		count int
		// applied and open are files, as the tool's user has them.
		applied, open string
		fault         string
	}{
		"goose": {
			[]string{
				"create table goose_db_version (id int, version_id bigint, is_applied boolean, tstamp {stamp})",
				"insert into goose_db_version values (1, 0, true, '2026-01-01 00:00:00'), (2, 1, true, '2026-01-01 00:00:00'), (3, 2, true, '2026-01-02 00:00:00'), (4, 2, false, '2026-01-03 00:00:00'), (5, 20260101120000, true, null)",
			}, 2, "00001_a.sql", "20260202120000_b.sql", "",
		},
		"flyway": {
			[]string{
				"create table flyway_schema_history (installed_rank int, version varchar(50), description varchar(200), type varchar(20), script varchar(1000), checksum int, installed_by varchar(100), installed_on {stamp}, execution_time int, success boolean)",
				"insert into flyway_schema_history values (1, '1', 'base', 'BASELINE', '', null, 'x', '2026-01-01 00:00:00', 1, true), (2, '1.2', 'a', 'SQL', 'V1.2__a.sql', 77, 'x', '2026-01-01 00:00:00', 1, true), (3, null, 'views', 'SQL', 'R__views.sql', 78, 'x', '2026-01-01 00:00:00', 1, true)",
			}, 3, "V1_2__a.sql", "V2__b.sql", "",
		},
		"golang-migrate": {
			[]string{"create table schema_migrations (version bigint primary key, dirty boolean not null)", "insert into schema_migrations values (12, false)"},
			1, "000007_a.up.sql", "000013_b.up.sql", "",
		},
		"golang-migrate, dirty": {
			[]string{"create table schema_migrations (version bigint primary key, dirty boolean not null)", "insert into schema_migrations values (12, true)"},
			0, "", "", "dirty",
		},
		"flyway, failed": {
			[]string{
				"create table flyway_schema_history (installed_rank int, version varchar(50), description varchar(200), type varchar(20), installed_on {stamp}, success boolean)",
				"insert into flyway_schema_history values (1, '1', 'base', 'SQL', '2026-01-01 00:00:00', false)",
			}, 0, "", "", "failed",
		},
	} {
		t.Run(tool, func(t *testing.T) {
			onBoth(t, func(t *testing.T, p *place) {
				for _, s := range c.make {
					p.exec(t, strings.ReplaceAll(s, "{stamp}", stamp[p.engine]))
				}
				db := p.open(t, target.Options{})
				f, err := db.Foreign(t.Context())
				if err != nil || f == nil || !strings.HasPrefix(tool, f.Tool) {
					t.Fatalf("%+v, %v", f, err)
				}
				if c.fault != "" {
					if _, err := db.Import(t.Context(), *f, "ann"); !strings.Contains(failure(t, err, target.CodeDirty).What, c.fault) {
						t.Errorf("%v", err)
					}
					return
				}
				for _, want := range []int{c.count, 0} { // twice is once
					if n, err := db.Import(t.Context(), *f, "ann"); n != want || err != nil {
						t.Errorf("imported %d, %v; want %d", n, err, want)
					}
				}
				result, err := db.Apply(t.Context(), p.change(t, 1, c.applied, "create table a (id int);"), &watch{})
				if err != nil || !result.Replayed {
					t.Errorf("%s: %+v, %v; want a replay", c.applied, result, err)
				}
				result, err = db.Apply(t.Context(), p.change(t, 1, c.open, "create table b (id int);"), &watch{})
				if err != nil || result.Replayed {
					t.Errorf("%s: %+v, %v; want it to run", c.open, result, err)
				}
			})
		})
	}
}

// Rails calls its table schema_migrations too, and it is not golang-migrate's.
func TestAForeignTableOfTheSameName(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table schema_migrations (version varchar(100))")
		if f, err := p.open(t, target.Options{}).Foreign(t.Context()); f != nil || err != nil {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
