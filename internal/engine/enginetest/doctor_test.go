package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testwait"
)

// ward makes a healthy database with work of every kind.
func ward(t testing.TB) *engine {
	e := start(t)
	e.exec(`select weir.register_node('n', capacity => '{"s": 5}', at => $1)`, at(0))
	e.exec(`select weir.register_worker('w', '{s}', 'n', at => $1)`, at(0))
	e.exec(`select weir.set_pool('p', 2, at => $1)`, at(0))
	e.submit(0, spec{"service": "s", "lane": "l", "exclusive": true})
	e.submit(0, spec{"service": "s", "lane": "m"})
	e.submit(0, spec{"service": "s", "lane": "ranked", "rank": 5})
	e.submit(0, spec{"service": "s", "pool": "p"})
	e.tend(1)
	if got := e.claim(2, "w", "s", 4); len(got) != 4 {
		t.Fatalf("%d leases, want 4", len(got))
	}
	e.submit(0, spec{"service": "held", "hold": "me"})
	e.submit(0, spec{"service": "timed", "run_at": at(1000)})
	e.submit(0, spec{"service": "free"})
	e.finish(3, e.run(3, e.submit(0, spec{"service": "ended"})))
	e.submitJob(0, spec{"service": "job", "key": "a"}, spec{"service": "job", "key": "b", "needs": []string{"a"}})
	planned := e.submit(0, spec{"service": "planned", "plan": true})
	e.exec(`select weir.open_job('queued', due => $1, at => $2)`, at(1000), at(0))
	e.exec(`select weir.open_job('child', due => $1, parent => $2, at => $3)`, at(1000), planned, at(0))
	return e
}

// illnesses says how to break each row of the doctor by hand, as no call of the
// engine could, and which rows must then be red: that one, and those that are
// about the same fact.
var illnesses = map[string]struct {
	sql  string
	also []string
}{
	"a task is in exactly one state":                                 {sql: `insert into weir.finished (task, at, attempt, outcome) select task, now(), 1, 'done' from weir.pending where gate = 'hold'`},
	"a row agrees with its task":                                     {sql: `update weir.pending set order_seq = order_seq + 1000 where gate = 'hold'`},
	"a lease has an attempt, a worker and an end":                    {sql: `update weir.running set worker = 99999 where task = (select min(task::text)::uuid from weir.running)`},
	"no node runs more than its capacity":                            {sql: `update weir.nodes set capacity = '{"s": 3}'`},
	"a floor hides no task":                                          {sql: `update weir.classes set floor = 1000000 where service = 'free'`},
	"needs are counted right":                                        {sql: `update weir.pending set unmet = 5 where gate = 'needs'`},
	"a job counts its tasks right":                                   {sql: `update weir.job_live set done = 1 where due is null`},
	"a queued job has no tasks":                                      {sql: `update weir.job_live set due = null where parent is not null`, also: []string{"a job counts its tasks right"}},
	"a task is planned before it goes on":                            {sql: `update weir.pending set plan = true where gate = 'hold'`},
	"tasks are planned in time":                                      {sql: `with x as (update weir.job_live set parent = null where parent is not null) update weir.pending set since = clock_timestamp() - interval '2 min' where gate = 'plan'`},
	"jobs are built when they are due":                               {sql: `update weir.job_live set due = clock_timestamp() - interval '2 min' where due is not null`},
	"no job runs on for a task that has ended":                       {sql: `with f as (update weir.finished set at = clock_timestamp() - interval '2 min' returning task) update weir.job_live set parent = f.task from f where parent is not null`},
	"a unique key belongs to a live task":                            {sql: `insert into weir.unique_keys select 's', 'k', task from weir.finished`},
	"an exclusive task has its lane alone":                           {sql: `update weir.running set lane = 'l' where lane = 'm'`},
	"no rank overtakes a lower one":                                  {sql: `insert into weir.lane_blocks select 'ranked', 1, task, '2000-01-01' from weir.finished`},
	"no pool is over its size":                                       {sql: `update weir.pools set size = 0`},
	"a pool knows who holds it":                                      {sql: `update weir.pools set held = 99`},
	"no pool starts more than its rate":                              {sql: `with p as (update weir.pools set rate = 5, per = '1 min' returning name) insert into weir.starts select name, clock_timestamp() + interval '1 day' + interval '2 min', 6 from p`},
	"a pending task stands at a gate it has":                         {sql: `update weir.pending set hold = null where gate = 'hold'`},
	"the state of a task is what its events say":                     {sql: `delete from weir.events where type = 'done'`},
	"readers see the events of a task in order":                      {sql: `update weir.events set xid = 0 where type = 'done'`},
	"leases that ran out are ended in time":                          {sql: `update weir.running set until = clock_timestamp() - interval '1 min'`, also: []string{"no worker is lost while it holds tasks"}},
	"no worker is lost while it holds tasks":                         {sql: `update weir.running set until = clock_timestamp() - interval '2 s'`},
	"tasks start when they are due":                                  {sql: `update weir.pending set run_at = clock_timestamp() - interval '1 min' where gate = 'time'`},
	"the timeline belongs to this cluster":                           {sql: `update weir.events set xid = 900000000000000000 where type = 'done'`},
	"a live task holds its unique key":                               {sql: `update weir.tasks set unique_key = 'x' where id = (select task from weir.pending limit 1)`},
	"every task can be moved":                                        {sql: `insert into weir.set_aside select task, 'open', 'broken', clock_timestamp(), 1, clock_timestamp() from weir.pending limit 1`},
	"no task loses worker after worker":                              {sql: `insert into weir.forgiven (task, crashes) select task, 5 from weir.pending limit 1`},
	"every lane and pool can be opened":                              {sql: `insert into weir.left_keys values (true, 'l', clock_timestamp(), true, 'broken')`},
	"the end of a task is told on in time":                           {sql: `insert into weir.unsettled select id, id, clock_timestamp() - interval '1 h' from weir.tasks limit 1`},
	"transactions are READ COMMITTED unless somebody says otherwise": {sql: `do $$ begin execute format('alter database %I set default_transaction_isolation = ''serializable''', current_database()); end $$`},
	"roles and grants are in place":                                  {sql: `do $$ begin grant execute on function weir.submit_many to public; end $$`},
	"schedules can be read":                                          {sql: `insert into weir.schedules (name, spec, task, next_at, changed_at) values ('bad', 'garbage', '{"service": "s"}', clock_timestamp() - interval '2 min', clock_timestamp())`},
	"there are partitions for the coming days": {sql: `do $$ declare p record; begin
		for p in select name from weir._partitions() where parent = 'job_finished' loop execute 'drop table weir.' || p.name; end loop; end $$`},
}

// inFleet: a fleet is needed to break them.
const inFleet = "internal/fleet: TestDoctorCanFail"

// inRollout: a rollout is needed to break them.
const inRollout = "internal/rollout: TestDoctorFindsWhatIsBroken"

// inWorkspace: workspaces are needed to break them.
const inWorkspace = "internal/workspace: TestDoctorCanFail"

// watched are rows that look at the server and not at tables: they have tests
// of their own, or none is possible.
var watched = map[string]string{
	"no old transaction holds the timeline back": "TestDoctorSeesOldTransactions",
	"no old snapshot keeps dead rows":            "TestDoctorSeesOldTransactions",
	"vacuum keeps up with the hot tables":        "reads the server's statistics, which nobody can write",

	"a database has one exclusive run at a time":      inRollout,
	"no version runs before a lower one that is open": inRollout,
	"no rollout runs more at once than it may":        inRollout,
	"the holds of rollouts are what they should be":   inRollout,
	"a run that nobody knows of is asked about":       inRollout,
	"a rollout stands as its tasks do":                inRollout,
	"nobody has to say what became of a run":          inRollout,

	"at most one fleet job is active":                           inFleet,
	"no PC runs more devices than it has slots":                 inFleet,
	"a device runs one thing at a time":                         inFleet,
	"a lease on a device belongs to a unit or to a health task": inFleet,
	"a unit is where its task is":                               inFleet,
	"a fleet job counts its units right":                        inFleet,
	"a fleet job lives as long as its job":                      inFleet,
	"a fleet job that could be active is":                       inFleet,
	"a fleet job that nothing can serve ends":                   inFleet,
	"a reserved device gets no new work":                        inFleet,

	"no more workspaces run than may":                              inWorkspace,
	"an operation of a workspace has begun, and only then gets on": inWorkspace,
	"nothing goes on in a workspace with an error that stands":     inWorkspace,
	"the archive of a workspace is verified and kept":              inWorkspace,
	"a workspace counts starts and archives forward":               inWorkspace,
	"a home that was seen is remembered":                           inWorkspace,
	"everything of workspaces can be seen":                         inWorkspace,
	"workspaces get to where they are wanted":                      inWorkspace,
}

// TestDoctorCanFail breaks each invariant and sees exactly that row go red. A
// new row of the doctor fails this test until somebody says how to break it.
func TestDoctorCanFail(t *testing.T) {
	t.Parallel()
	e := ward(t)
	for _, name := range all[string](e, `select name from weir.doctor()`) {
		if _, ok := watched[name]; ok {
			continue
		}
		ill, ok := illnesses[name]
		if !ok {
			t.Errorf("nobody says how to break: %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			tx, err := e.Pool.Begin(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.Background()) //nolint:errcheck // the illness is not to stay
			tag, err := tx.Exec(context.Background(), ill.sql)
			if err != nil {
				t.Fatal(err)
			}
			if tag.RowsAffected() == 0 && !strings.HasPrefix(ill.sql, "do ") {
				t.Fatal("nothing was broken")
			}
			red, err := ask[struct{ Name, Detail string }](tx, `select name, detail from weir.doctor(true) where not ok`)
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{name}, ill.also...)
			for _, r := range red {
				if !slices.Contains(want, r.Name) {
					t.Errorf("also red: %s: %s", r.Name, r.Detail)
				}
				if r.Detail == "" {
					t.Errorf("%s gives no detail", r.Name)
				}
			}
			if len(red) != len(want) {
				t.Errorf("%d rows are red, want %d: %v", len(red), len(want), red)
			}
		})
	}
}

// TestDoctorSeesSchedulesThatCannotRun sets schedules with a cron line or a zone
// that the one who fires them cannot read: it leaves them, and they stay due.
func TestDoctorSeesSchedulesThatCannotRun(t *testing.T) {
	t.Parallel()
	e := start(t)
	set := `select weir.set_schedule($1, $2, '{"service": "s"}', $3, zone => $4, paused => $5, at => $6)`
	e.exec(set, "bad line", "garbage", at(60), "UTC", false, at(0))
	e.exec(set, "bad zone", "0 3 * * *", at(60), "Mars/X", false, at(0))
	e.exec(set, "paused", "garbage", at(60), "UTC", true, at(0))
	e.exec(set, "later", "@daily", at(1000), "UTC", false, at(0))
	found := func(sec float64) string {
		return one[string](e, `select coalesce(string_agg(detail, ''), '') from weir.doctor(at => $1) where name = 'schedules can be read' and level = 'health' and not ok`, at(sec))
	}
	if got := found(119); got != "" {
		t.Errorf("before a minute is over: %s", got)
	}
	got := found(121)
	for name, want := range map[string]bool{"bad line": true, "bad zone": true, "paused": false, "later": false} {
		if strings.Contains(got, name) != want {
			t.Errorf("%s: want it named: %v, in: %q", name, want, got)
		}
	}
	for _, name := range []string{"bad line", "bad zone"} {
		e.exec(`select weir.drop_schedule($1, at => $2)`, name, at(122))
	}
	if got := found(130); got != "" {
		t.Errorf("after they were dropped: %s", got)
	}
}

// TestDoctorSeesOldTransactions looks at the activity of the server from a time
// when two open transactions are old.
func TestDoctorSeesOldTransactions(t *testing.T) {
	t.Parallel()
	e := start(t)
	ctx := context.Background()
	writer, reader := e.connect(), e.connect()
	for _, s := range []string{`begin`, `create table public.unfinished ()`} {
		if _, err := writer.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []string{`begin isolation level repeatable read`, `select count(*) from weir.tasks`} {
		if _, err := reader.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	for name, pid := range map[string]uint32{
		"no old transaction holds the timeline back": writer.PgConn().PID(),
		"no old snapshot keeps dead rows":            reader.PgConn().PID(),
	} {
		// A row names five: transactions of tests beside this one may hide it for a moment.
		testwait.Until(t, fmt.Sprintf("%s: pid %d is found", name, pid), func() bool {
			return one[bool](e, `select count(*) > 0 from weir.doctor(at => $1) where name = $2 and not ok and level = 'health' and detail like '%' || $3::text || '%'`,
				time.Now().Add(15*time.Minute), name, fmt.Sprintf("pid %d ", pid))
		})
	}
	for _, conn := range []interface{ Close(context.Context) error }{writer, reader} {
		if err := conn.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}
