package coordinator

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

const testTTL = 2 * time.Second

func newDB(t *testing.T) *testdb.DB {
	t.Helper()
	db := testdb.New(t)
	if _, err := db.Pool.Exec(t.Context(), actsTable); err != nil {
		t.Fatal(err)
	}
	return db
}

// server is a coordinator that acts every few milliseconds while it leads.
type server struct {
	*Coordinator
	terms chan *Term
	stop  context.CancelFunc
	ended chan struct{}
}

func serve(t *testing.T, pool *pgxpool.Pool, change func(*Config)) *server {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &server{terms: make(chan *Term, 100), stop: stop, ended: make(chan struct{})}
	config := Config{Pool: pool, TTL: testTTL, Loops: func(term *Term) []loop.Loop {
		s.terms <- term
		return []loop.Loop{{Name: "act", Every: 5 * time.Millisecond, Tick: func(ctx context.Context, _ time.Time) (bool, error) {
			return false, term.Tx(ctx, pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, act, term.Epoch())
				return err
			})
		}}}
	}}
	if change != nil {
		change(&config)
	}
	s.Coordinator = New(config)
	go func() {
		defer close(s.ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-s.ended })
	return s
}

func (s *server) leads(t *testing.T) *Term {
	t.Helper()
	select {
	case term := <-s.terms:
		return term
	case <-time.After(time.Minute):
		t.Fatal("it never leads")
		return nil
	}
}

// acts counts the writes of an epoch.
func acts(t *testing.T, db *testdb.DB, epoch int64) (n int) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from acts where epoch = $1`, epoch).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// oneAtATime fails if an epoch acted after a later one had begun to.
func oneAtATime(t *testing.T, db *testdb.DB) {
	t.Helper()
	var late int
	err := db.Pool.QueryRow(t.Context(), `select count(*) from acts a where exists (select from acts b where b.epoch > a.epoch and b.at < a.at)`).Scan(&late)
	if err != nil || late > 0 {
		t.Errorf("%d acts of a term that was over (%v)", late, err)
	}
}

func TestR9OneOfTwoLeads(t *testing.T) {
	db := newDB(t)
	one := serve(t, db.Pool, nil)
	term := one.leads(t)
	two := serve(t, db.Pool, nil)
	// A whole ttl with renewals: the second one never leads.
	first := *term.deadline.Load()
	testwait.Until(t, "the term is renewed twice", func() bool { return term.deadline.Load().Sub(first) > testTTL/2 })
	if term.Epoch() != 1 || one.Status().Epoch != 1 || two.Status().Epoch != 0 || len(two.terms) > 0 {
		t.Errorf("one %+v, two %+v", one.Status(), two.Status())
	}
	if one.Status().Holder == two.Status().Holder {
		t.Error("two coordinators of one process have the same name")
	}
	if s := one.Status().Loops; len(s) != 1 || s[0].Ticks == 0 {
		t.Errorf("loops %+v", s)
	}
	oneAtATime(t, db)
}

// That the lead changes hands is to be seen at the level of the log that servers
// have by default; that a server starts or stops is told by itself.
func TestChangesOfTheLeadAreLogged(t *testing.T) {
	db := newDB(t)
	var log testwait.Text
	s := serve(t, db.Pool, func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	s.leads(t)
	if strings.Contains(log.String(), "leads") {
		t.Errorf("a start is told:\n%s", &log)
	}
	if _, err := db.Pool.Exec(t.Context(), `update weir.system_locks set holder_id = 'another', epoch = epoch + 1, expires_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	if term := s.leads(t); term.Epoch() < 3 {
		t.Errorf("epoch %d", term.Epoch())
	}
	s.stop()
	<-s.ended
	text := log.String()
	if !strings.Contains(text, `msg="leads no longer"`) || !strings.Contains(text, "msg=leads") || strings.Count(text, "leads no longer") != 1 {
		t.Errorf("the log says:\n%s", text)
	}
}

func TestAResignedLeadIsTakenAtOnce(t *testing.T) {
	db := newDB(t)
	hints := listen.New(db.Pool.Config().ConnConfig, nil)
	sub := hints.Listen(Channel)
	ctx, stop := context.WithCancel(context.Background())
	var listener sync.WaitGroup
	listener.Go(func() { _ = hints.Run(ctx) })
	t.Cleanup(func() { stop(); listener.Wait() })
	testwait.Until(t, "the listener listens", hints.Healthy)

	hour := func(c *Config) { c.TTL = time.Hour }
	one := serve(t, db.Pool, hour)
	one.leads(t)
	two := serve(t, db.Pool, func(c *Config) { c.TTL, c.Wake = 10*time.Minute, sub.C() })
	testwait.Until(t, "the first one acts", func() bool { return acts(t, db, 1) > 0 })
	start := time.Now()
	one.stop()
	<-one.ended
	// Without the hint it would take a third of ten minutes.
	if term := two.leads(t); term.Epoch() != 2 {
		t.Errorf("epoch %d", term.Epoch())
	}
	t.Logf("hand-over after %v", time.Since(start).Round(time.Millisecond))
	testwait.Until(t, "the second one acts", func() bool { return acts(t, db, 2) > 0 })
	oneAtATime(t, db)
}

// What runs beside the loops ends with the term, and the lead is not handed over before.
func TestWhatRunsBesideTheLoopsEndsFirst(t *testing.T) {
	db := newDB(t)
	ended, release := make(chan struct{}), make(chan struct{})
	one := serve(t, db.Pool, func(c *Config) {
		c.TTL = time.Hour
		loops := c.Loops
		c.Loops = func(term *Term) []loop.Loop {
			term.Go(func(ctx context.Context) {
				<-ctx.Done()
				close(ended)
				<-release
			})
			return loops(term)
		}
	})
	one.leads(t)
	one.stop()
	<-ended
	if epoch, _, err := lead(t.Context(), Config{Pool: db.Pool, TTL: time.Minute, Holder: "other"}); err != nil || epoch != 0 {
		t.Errorf("another leads with epoch %d, %v", epoch, err)
	}
	close(release)
	<-one.ended
	if epoch, _, err := lead(t.Context(), Config{Pool: db.Pool, TTL: time.Minute, Holder: "other"}); err != nil || epoch != 2 {
		t.Errorf("epoch %d, %v", epoch, err)
	}
}

func TestR9AKilledLeaderIsReplacedWithinItsTTL(t *testing.T) {
	db := newDB(t)
	old := start(t, db.URL)
	old.says(t, "leads 1")
	heir := serve(t, db.Pool, nil)
	testwait.Until(t, "the child acts", func() bool { return acts(t, db, 1) > 10 })
	killed := time.Now()
	if err := old.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if term := heir.leads(t); term.Epoch() != 2 {
		t.Errorf("epoch %d", term.Epoch())
	}
	t.Logf("failover after kill -9: %v with a ttl of %v", time.Since(killed).Round(time.Millisecond), testTTL)
	testwait.Until(t, "the heir acts", func() bool { return acts(t, db, 2) > 0 })
	oneAtATime(t, db)
}

func TestR9APausedLeaderChangesNothingWhenItWakes(t *testing.T) {
	db := newDB(t)
	old := start(t, db.URL)
	old.says(t, "leads 1")
	testwait.Until(t, "the child acts", func() bool { return acts(t, db, 1) > 10 })
	paused := time.Now()
	if err := old.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	heir := serve(t, db.Pool, nil)
	if term := heir.leads(t); term.Epoch() != 2 {
		t.Errorf("epoch %d", term.Epoch())
	}
	t.Logf("failover after SIGSTOP: %v with a ttl of %v", time.Since(paused).Round(time.Millisecond), testTTL)
	testwait.Until(t, "the heir acts", func() bool { return acts(t, db, 2) > 0 })
	before := acts(t, db, 1)
	if err := old.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	old.says(t, "refused 1")
	if after := acts(t, db, 1); after != before {
		t.Errorf("the old leader wrote %d rows after its term", after-before)
	}
	oneAtATime(t, db)
}

func TestR9TerminatedBackendsNeverMakeTwoLeaders(t *testing.T) {
	db := newDB(t)
	var servers []*server
	for _, name := range []string{"first", "second"} {
		pool, err := pg.Open(t.Context(), db.URL, pg.Options{Name: name, MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		servers = append(servers, serve(t, pool, nil))
	}
	for range 20 {
		n := count(t, db)
		if _, err := db.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and application_name in ('first', 'second')`); err != nil {
			t.Fatal(err)
		}
		testwait.Until(t, "a leader acts", func() bool { return count(t, db) > n+3 })
	}
	for _, s := range servers {
		s.stop()
		<-s.ended
	}
	oneAtATime(t, db)
}

func count(t *testing.T, db *testdb.DB) (n int) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from acts`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// hole swallows all that is said once it is open, as a network that is cut.
type hole struct {
	net.Conn
	open <-chan struct{}
}

func (h hole) Write(b []byte) (int, error) {
	select {
	case <-h.open:
		return len(b), nil
	default:
		return h.Conn.Write(b)
	}
}

func TestR9ALeaderThatIsCutOffStopsBeforeAnotherMayLead(t *testing.T) {
	db := newDB(t)
	cut := make(chan struct{})
	var mu sync.Mutex
	var conns []net.Conn
	pool, err := pg.Open(t.Context(), db.URL, pg.Options{Configure: func(c *pgxpool.Config) {
		c.ConnConfig.ConnectTimeout = time.Second
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
			return hole{conn, cut}, nil
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	t.Cleanup(func() { // else the pool waits long for answers
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	old := serve(t, pool, nil)
	term := old.leads(t)
	heir := serve(t, db.Pool, nil)
	testwait.Until(t, "the leader acts", func() bool { return acts(t, db, 1) > 0 })

	close(cut)
	<-term.ctx.Done()
	if !errors.Is(context.Cause(term.ctx), ErrTermOver) {
		t.Errorf("the term ended by %v", context.Cause(term.ctx))
	}
	var expires time.Time
	if err := db.Pool.QueryRow(t.Context(), `select expires_at from weir.system_locks where lock_name = $1 and epoch = 1`, Lock).Scan(&expires); err != nil {
		t.Fatalf("another led before the term had ended: %v", err)
	}
	if deadline := *term.deadline.Load(); !deadline.Before(expires) {
		t.Errorf("our deadline %v is not before %v", deadline, expires)
	}
	if term := heir.leads(t); term.Epoch() != 2 {
		t.Errorf("epoch %d", term.Epoch())
	}
	testwait.Until(t, "the heir acts", func() bool { return acts(t, db, 2) > 0 })
	oneAtATime(t, db)
}

func TestTheFenceOfATerm(t *testing.T) {
	db := newDB(t)
	ctx := t.Context()
	config := Config{Pool: db.Pool, TTL: time.Minute, Holder: "a"}
	epoch, _, err := lead(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	term := newTerm(ctx, config, epoch, time.Now())
	write := func(tx pgx.Tx) error { _, err := tx.Exec(ctx, act, epoch); return err }

	var n int64
	if err := term.Tx(ctx, db.Pool, write); err != nil {
		t.Fatal(err)
	}
	if err := term.QueryRow(ctx, db.Pool, act+` returning epoch`, []any{epoch}, &n); err != nil || n != epoch {
		t.Fatalf("%d, %v", n, err)
	}
	// An error of the statement is that error, and undoes it all.
	if err := term.QueryRow(ctx, db.Pool, `select 1/$1::int`, []any{0}, &n); err == nil || errors.Is(err, ErrTermOver) || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("got %v", err)
	}
	if term.ctx.Err() != nil {
		t.Error("an error of a statement ended the term")
	}

	term.resign()
	other := Config{Pool: db.Pool, TTL: time.Minute, Holder: "b"}
	if next, _, err := lead(ctx, other); err != nil || next != epoch+1 {
		t.Fatalf("epoch %d, %v", next, err)
	}
	if err := term.QueryRow(ctx, db.Pool, act+` returning epoch`, []any{epoch}, &n); !errors.Is(err, ErrTermOver) {
		t.Errorf("QueryRow of an old term: %v", err)
	}
	if err := term.Tx(ctx, db.Pool, write); !errors.Is(err, ErrTermOver) {
		t.Errorf("Tx of an old term: %v", err)
	}
	if term.ctx.Err() == nil {
		t.Error("a refused write did not end the term")
	}
	if got := acts(t, db, epoch); got != 2 {
		t.Errorf("%d acts, want 2", got)
	}
	// The holder that lost it gets a new epoch only when the other is gone.
	if again, left, err := lead(ctx, config); err != nil || again != 0 || left < 50*time.Second {
		t.Errorf("epoch %d, %v left, %v", again, left, err)
	}
}
