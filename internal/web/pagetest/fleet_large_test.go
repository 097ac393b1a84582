package pagetest_test

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/webtest"
)

// asked counts the statements that pages of the fleet ask.
type asked struct{ n atomic.Int64 }

func (a *asked) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	a.n.Add(1)
	return ctx
}

func (*asked) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// newCountedLab is a lab whose pages count what they ask.
func newCountedLab(t testing.TB) (*lab, *asked) {
	t.Helper()
	var a asked
	var pool *pgxpool.Pool
	l := &lab{t, webtest.Start(t)}
	config := l.DB.Pool.Config()
	config.ConnConfig.Tracer = &a
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	*l.Fleets = *fleet.New(pool)
	return l, &a
}

// many makes PCs with devices as their reports would leave them.
func (l *lab) many(pcs, devices int) {
	l.Helper()
	for _, sql := range []string{
		`insert into weir.nodes (name, registered_at, seen_at) select format('PC-%s', to_char(n, 'FM0000')), now(), now() + interval '1 h' from generate_series(1, $1::int) n where $2 > 0 on conflict do nothing`,
		`insert into weir.pcs (node, reported_at) select n.id, now() from weir.nodes n where n.name <= format('PC-%s', to_char($1::int, 'FM0000')) and $2 > 0 on conflict do nothing`,
		`insert into weir.devices (serial, node, online, online_at, health, health_at, registered_at)
			select format('S%s-%s', right(n.name, 4), to_char(d, 'FM00')), n.id, true, now(), 'good', now(), now() from weir.nodes n, generate_series(1, $2::int) d where $1 > 0 on conflict do nothing`,
	} {
		if _, err := l.DB.Pool.Exec(l.Context(), sql, pcs, devices); err != nil {
			l.Fatal(err)
		}
	}
	l.Exec(l, `analyze weir.nodes, weir.pcs, weir.devices`)
}

var nextLink = regexp.MustCompile(`href="([^"]*)" rel="next"`)

// next is the address of the next page; empty: there is none.
func next(a webtest.Answer) string {
	m := nextLink.FindStringSubmatch(a.Body)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// A lab of 1,000 PCs with 30 devices each costs a page what a small one costs: as many
// statements, and a bounded number of bytes. The pages together have every PC once.
func TestFleetLarge(t *testing.T) {
	l, asked := newCountedLab(t)
	vera := l.Login(t, "vera", auth.Viewer)
	cost := func(path string) (statements int64, a webtest.Answer) {
		before := asked.n.Load()
		a = vera.Get(t, path).Is(t, 200)
		return asked.n.Load() - before, a
	}
	l.many(2, 30)
	job := l.submit(fleet.Spec{Name: "nightly"})
	leases := l.claim("PC-0001", 20)
	paths := []string{
		"/fleet", "/fleet?pc=PC", "/fleet?show=trouble", "/fleet?health=good", "/fleet/pcs", "/devices", "/devices?pc=PC-0001", "/fleet/jobs", "/fleet/quarantine",
		"/fleet/jobs/" + job.ID.String(), "/fleet/jobs/" + job.ID.String() + "/units", "/fleet/jobs/" + job.ID.String() + "/units?state=running",
	}
	small := map[string]int64{}
	for _, path := range paths {
		small[path], _ = cost(path)
	}
	l.finish(leases...)
	if _, err := l.Fleets.Cancel(t.Context(), "ann", job.ID, "enough"); err != nil {
		t.Fatal(err)
	}

	l.many(1000, 30)
	large := l.submit(fleet.Spec{Name: "nightly"})
	for _, pc := range []string{"PC-0001", "PC-0002", "PC-0050", "PC-0051"} {
		l.claim(pc, 20)
	}
	for _, path := range paths {
		path = strings.ReplaceAll(path, job.ID.String(), large.ID.String())
		n, a := cost(path)
		t.Logf("%-75s %d statements, %d bytes", strings.ReplaceAll(path, large.ID.String(), "ID"), n, len(a.Body))
		if want := small[strings.ReplaceAll(path, large.ID.String(), job.ID.String())]; n != want || n > 8 {
			t.Errorf("%s asks %d statements, and %d of a small lab", path, n, want)
		}
		if len(a.Body) > 450_000 {
			t.Errorf("%s has %d bytes", path, len(a.Body))
		}
	}

	// The head counts all, the rows are some.
	_, grid := cost("/fleet")
	grid.Has(t, ">30\u202f000<", ">1\u202f000<", "of 30\u202f000 devices", ">80<", `data-pc="PC-0050"`).Lacks(t, `data-pc="PC-0051"`)
	if run, free := cells(grid, "running"), cells(grid, "free"); run != 60 || free != 47*20 {
		t.Errorf("%d run, %d are free", run, free)
	}
	var seen []string
	row := regexp.MustCompile(`data-pc="([^"]*)"`)
	for path := "/fleet"; path != ""; {
		_, a := cost(path)
		found := row.FindAllStringSubmatch(a.Body, -1)
		if len(found) > 50 {
			t.Fatalf("%s has %d rows", path, len(found))
		}
		for _, m := range found {
			seen = append(seen, m[1])
		}
		path = next(a)
	}
	if len(seen) != 1000 || !slices.IsSorted(seen) || len(slices.Compact(seen)) != 1000 {
		t.Errorf("%d PCs on all pages", len(seen))
	}

	// 30,000 runs are pages, too, by their number.
	_, units := cost("/fleet/jobs/" + large.ID.String() + "/units")
	if n := strings.Count(units.Body, `data-state="running"`) + strings.Count(units.Body, `data-state="waiting"`); n != 50 {
		t.Errorf("%d runs on a page", n)
	}
	_, second := cost(next(units))
	second.Has(t, "S0002-21", "S0004-10").Lacks(t, "S0002-20")
	_, devices := cost("/devices?after=S0999-30")
	devices.Has(t, "S1000-01", "S1000-30").Lacks(t, `rel="next"`)
}

// Those that want a look are few: a filter finds them among the others.
func TestFleetTrouble(t *testing.T) {
	l := newLab(t)
	l.many(1000, 8)
	vera := l.Login(t, "vera", auth.Viewer)
	vera.Get(t, "/fleet?show=trouble").Is(t, 200).Has(t, "No PC has trouble").Lacks(t, `class="fleet-row`)
	l.Exec(t, `update weir.nodes set seen_at = now() - interval '1 h' where name = 'PC-0700'`, `update weir.devices set health = 'quarantined' where serial = 'S0500-07'`,
		`update weir.devices set online = false where serial = 'S0900-07'`, `update weir.devices set health = 'retired', online = false where serial = 'S0901-07'`,
		`update weir.devices set health = 'maintenance' where serial = 'S0902-07'`)
	trouble := vera.Get(t, "/fleet?show=trouble").Is(t, 200).Has(t, `data-pc="PC-0500"`, `data-pc="PC-0700"`, `data-pc="PC-0900"`, "PC-0700 offline since", "1 stands still", `aria-current="true">only with trouble`)
	if n := strings.Count(trouble.Body, `class="fleet-row`); n != 3 {
		t.Errorf("%d PCs have trouble", n)
	}
	vera.Get(t, "/fleet?show=trouble&pc=07").Is(t, 200).Has(t, `data-pc="PC-0700"`).Lacks(t, `data-pc="PC-0500"`)
	vera.Get(t, "/fleet?show=all").Is(t, 422)
	quarantined := vera.Get(t, "/fleet?health=quarantined").Is(t, 200).Has(t, `data-pc="PC-0500"`, "/devices/S0500-07")
	if n := strings.Count(quarantined.Body, `class="fleet-row`); n != 1 || cells(quarantined, "quarantined") != 1 {
		t.Errorf("%d PCs, %d devices", n, cells(quarantined, "quarantined"))
	}
	vera.Get(t, "/fleet/pcs?"+url.Values{"pc": {"0700"}}.Encode()).Is(t, 200).Has(t, "PC-0700").Lacks(t, "PC-0701")
	l.Exec(t, `update weir.nodes set seen_at = now() where name = 'PC-0700'`)
}

// A PC with many slots or devices has a row of some, and says how many it leaves out.
func TestFleetBounds(t *testing.T) {
	l := newLab(t)
	l.many(1, 70)
	l.Exec(t, `update weir.pcs set slots = 100`, `insert into weir.devices (serial, online, online_at, health, health_at, registered_at) values ('LOOSE', false, now(), 'good', now(), now())`)
	vera := l.Login(t, "vera", auth.Viewer)
	grid := vera.Get(t, "/fleet").Is(t, 200).Has(t, "40 more", "/devices?pc=PC-0001")
	if n := cells(grid, "free") + cells(grid, "none"); n != 60 {
		t.Errorf("%d cells", n)
	}
	good := vera.Get(t, "/fleet?health=good").Is(t, 200).Has(t, "/devices?health=good&amp;pc=PC-0001", "on no PC", "/devices/LOOSE")
	if n := cells(good, "good"); n != 61 {
		t.Errorf("%d cells", n)
	}
	vera.Get(t, "/fleet?health=good&pc=PC").Is(t, 200).Lacks(t, "LOOSE")
}
