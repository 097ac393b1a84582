package target_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
	"github.com/weirhq/weir/internal/testwait"
)

// world is one of each thing that a snapshot must see.
var world = map[script.Engine][]string{
	script.Postgres: {
		"create schema app", "create type app.mood as enum ('sad', 'glad')", "create domain app.mail as text check (value like '%@%')",
		"create type app.pair as (a int, b text)", "create sequence app.tickets start 10",
		"create table app.people (id bigint generated always as identity primary key, mail app.mail not null, mood app.mood default 'sad', up text generated always as (upper(mail)) stored)",
		"create table app.orders (id int, person bigint references app.people, day date, check (id > 0)) partition by range (day)",
		"create table app.orders_2026 partition of app.orders for values from ('2026-01-01') to ('2027-01-01')",
		"create index people_mood on app.people (mood) where mood = 'sad'",
		"create view app.sad as select id from app.people where mood = 'sad'", "create materialized view app.all_people as select * from app.people",
		"create function app.touch() returns trigger language plpgsql as $$ begin return new; end $$",
		"create trigger touch before update on app.people for each row execute function app.touch()",
		"alter table app.people enable row level security", "create policy own on app.people using (id = 1)",
		"create rule quiet as on delete to app.people do instead nothing", "create extension if not exists pg_trgm",
	},
	script.MySQL: {
		"create table people (id int primary key auto_increment, mail varchar(100) not null, mood enum ('sad', 'glad') default 'sad', up varchar(100) as (upper(mail)))",
		"create table orders (id int, person int, day date, constraint to_people foreign key (person) references people (id), check (id > 0))",
		"create index people_mood on people (mood)", "create view sad as select id from people where mood = 'sad'",
		"create function one() returns int deterministic return 1", "create procedure nothing() select 1",
		"create trigger touch before update on people for each row set new.mood = 'glad'", "create sequence tickets start with 10",
		"create event sweep on schedule every 1 day starts '2026-01-01' do delete from orders",
	},
}

func TestSnapshot(t *testing.T) {
	drift := map[script.Engine][]string{
		script.Postgres: {
			"alter type app.mood add value 'fine'", "alter sequence app.tickets increment 2", "alter table app.people alter mood set default 'glad'",
			"alter table app.people add age int", "alter table app.orders alter day set not null", "alter table app.orders add constraint big check (id < 100) not valid",
			"create index people_mail on app.people (mail)", "create or replace view app.sad as select id from app.people where mood = 'glad'",
			"create or replace function app.touch() returns trigger language plpgsql as $$ begin return old; end $$", "drop trigger touch on app.people",
			"drop policy own on app.people", "drop extension pg_trgm", "alter table app.people set (fillfactor = 50)", "create schema other", "alter table app.people disable row level security",
		},
		script.MySQL: {
			"alter table people modify mood enum ('sad', 'glad', 'fine') default 'sad'", "alter table people add age int", "create index people_mail on people (mail)",
			"alter table orders drop foreign key to_people", "create or replace view sad as select id from people where mood = 'glad'", "drop function one", "drop trigger touch",
			"create or replace procedure nothing() select 2", "drop event sweep",
		},
	}
	onBoth(t, func(t *testing.T, p *place) {
		var twin *place
		if p.engine == script.Postgres {
			twin = onPostgres(t)
		} else {
			twin = onMaria(t)
		}
		p.exec(t, world[p.engine]...)
		twin.exec(t, world[p.engine]...)
		same(t, p, twin)
		db := p.open(t, target.Options{})
		snap := func() string {
			t.Helper()
			s, err := db.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(s.Text, "weir_") && !strings.Contains(s.Text, "weir_test") {
				t.Errorf("Weir's own tables are in it:\n%s", s.Text)
			}
			return s.Hash
		}
		before := snap()
		// What Weir writes, and rows, are no drift.
		if _, err := db.Apply(t.Context(), p.change(t, 1, "V1__none.sql", "-- nothing\n"), &watch{}); err != nil {
			t.Fatal(err)
		}
		prefix := map[script.Engine]string{script.Postgres: "app."}[p.engine]
		p.exec(t, "insert into "+prefix+"people (mail) values ('a@b')")
		if snap() != before {
			t.Error("rows and Weir's tables change the snapshot")
		}
		for _, s := range drift[p.engine] {
			p.exec(t, s)
			now := snap()
			if now == before {
				t.Errorf("not seen: %s", s)
			}
			before = now
		}
	})
}

func TestSizes(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)", "insert into base values (1), (2), (3)")
		p.exec(t, map[script.Engine]string{script.Postgres: "analyze base", script.MySQL: "analyze table base"}[p.engine])
		sizes, err := p.open(t, target.Options{}).Sizes(t.Context())
		if err != nil || sizes["base"] != 3 {
			t.Errorf("%v, %v", sizes, err)
		}
	})
}

func TestIdentity(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		far, _ := p.through(t)
		one, err := p.open(t, target.Options{}).Identity(t.Context())
		if err != nil || one.System == "" || one.Database == "" || one.Version == "" {
			t.Fatalf("%+v, %v", one, err)
		}
		two, err := far.open(t, target.Options{}).Identity(t.Context())
		if err != nil || two != one {
			t.Errorf("%+v by another address, %v; want %+v", two, err, one)
		}
		var other *place
		if p.engine == script.Postgres {
			other = onPostgres(t)
		} else {
			other = onMaria(t)
		}
		three, err := other.open(t, target.Options{}).Identity(t.Context())
		if err != nil || three.System != one.System || three.Database == one.Database {
			t.Errorf("another database of the server: %+v, %v", three, err)
		}
	})
}

func TestActivityShowsWhoBlocksWhom(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		p.exec(t, "create table base (id int primary key)", "insert into base values (1)")
		long := p.hold(t, "update base set id = 2")
		db := p.open(t, target.Options{})
		run := p.change(t, 1, "V1__x.sql", "-- weir: lock_timeout=1m\nupdate base set id = 3;\n")
		done := applying(t.Context(), db, run, &watch{})
		var list []target.Session
		// InnoDB renews what it shows of locks only when nobody looked for 100 ms.
		testwait.Every(t, 350*time.Millisecond, "the blocker is shown", func() bool {
			var err error
			list, err = db.Activity(t.Context(), target.ApplicationName(run.Task, 1))
			return err == nil && len(list) == 1 && len(list[0].BlockedBy) == 1 && strings.Contains(list[0].Query, "update base")
		})
		if s := list[0]; s.BlockedBy[0].ID == 0 || s.BlockedBy[0].State != "idle in transaction" || s.Since.IsZero() {
			t.Errorf("%+v", s)
		}
		if err := long.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
