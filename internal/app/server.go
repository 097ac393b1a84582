package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/app/demo"
	"github.com/weirhq/weir/internal/coordinator"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/timeline/redishint"
	"github.com/weirhq/weir/internal/trace"
	"github.com/weirhq/weir/schema"
)

// databaseName is Weir's database in its own cluster.
const databaseName = "weir"

// Options are what Up needs beside the configuration.
type Options struct {
	// Version is shown and written to server.json.
	Version string
	// Program is how the command was called, for the lines that say what to try.
	// Empty: weir.
	Program string
	// Demo runs a worker with example work.
	Demo bool
	// Values are the settings with their origins, for those who may see them.
	Values []Value
	// Out gets the lines for a person, Log those for machines.
	Out io.Writer
	Log *slog.Logger
	// Level is that of Log, if it can be changed. Reload says that the
	// configuration should be read again, with Reread.
	Level  *slog.LevelVar
	Reload <-chan struct{}
	Reread func() (Config, error)
	// Force ends the patience of a stop that is under way.
	Force context.Context
	// drained ends the time of draining early. Tests know when a balancer has
	// heard; nobody else does.
	drained <-chan struct{}
	// agentPatience is the patience of the agent of this machine. Tests do not wait for
	// a minute.
	agentPatience time.Duration
}

// Server is everything that `weir up` or `weir server` runs.
type Server struct {
	config  Config
	options Options
	// private says that it has a data folder: for its own PostgreSQL, if no
	// database was named, and to tell commands on this machine where it is.
	private bool
	say     *progress
	log     *slog.Logger

	folder   folderLock
	cluster  *pg.Cluster
	listener net.Listener
	http     *http.Server
	// certificate is nil without TLS.
	certificate *certificate
	// parts is set when all that needs the database is there.
	parts atomic.Pointer[parts]
	// draining says that the end was asked for: balancers are told, requests are
	// still answered. stopping says that parts go away one by one.
	draining, stopping atomic.Bool
	// writes knows whether the database takes writes.
	writes pg.Writes
	// failed hears of a part that ended by itself.
	failed chan error
	group  sync.WaitGroup
}

// parts are what stands on the database.
type parts struct {
	url string
	// pool is for loops and checks; terms is the coordinator's own, so that a
	// renewal never waits behind work; reads is for pages and the API.
	pool, terms, reads *pgxpool.Pool

	client  *weir.Client
	tracing *trace.Tracing
	stores
	houses *houses
	// events hears that the timeline may have grown; bus too, if Redis carries
	// the hints.
	events *listen.Subscription
	bus    *redishint.Bus

	coordinator *coordinator.Coordinator
	resign      context.CancelFunc
	led         chan struct{}
	demo        *demo.Demo
	// agent is that of this machine; left is closed when it has ended.
	agent *Agent
	left  chan struct{}
	// executor runs changes of rollouts.
	executor *weir.Worker
	// face is the dashboard and the API; link logs in once.
	face http.Handler
	link string
	// shut ends the streams.
	shut func()
}

// Up starts everything, with a PostgreSQL of its own unless a database is named,
// runs until ctx ends or a part fails, and stops everything in the right order.
func Up(ctx context.Context, config Config, options Options) error {
	return run(ctx, config, options, true)
}

// Serve runs a server on a database that somebody else keeps, beside any number
// of others. It leaves nothing on this machine.
func Serve(ctx context.Context, config Config, options Options) error {
	if config.DatabaseURL == "" {
		return problem.Refuse("database_url", "set WEIR_DATABASE_URL, or use weir up, which brings a PostgreSQL of its own", "a server needs a database")
	}
	return run(ctx, config, options, false)
}

func run(ctx context.Context, config Config, options Options, private bool) error {
	s := &Server{config: config, options: options, private: private, say: newProgress(options.Out), log: options.Log, failed: make(chan error, 4)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.options.Force == nil {
		s.options.Force = context.Background()
	}
	if s.options.Program == "" {
		s.options.Program = "weir"
	}
	err := s.start(ctx)
	if err == nil {
		s.welcome()
		if err = s.wait(ctx); err == nil {
			s.drain()
		}
	} else if ctx.Err() == nil {
		s.say.out = io.Discard // why it failed is all there is to say
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // a start that was interrupted is no fault
	}
	return errors.Join(err, s.stop(), s.folder.free())
}

func (s *Server) start(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	p := &parts{url: s.config.DatabaseURL}
	for _, step := range s.steps() {
		if err := s.say.step(step.doing, func() (string, error) { return step.do(ctx, p) }); err != nil {
			return errors.Join(err, s.drop(p))
		}
	}
	s.parts.Store(p)
	if !s.private {
		return nil
	}
	return writeRunning(s.config.Data, Running{
		DatabaseURL: p.url, Listen: s.listener.Addr().String(), URL: s.url(), Pid: os.Getpid(), Version: s.options.Version, StartedAt: time.Now().UTC(), Settings: s.config.share(),
	})
}

// begin takes the data folder and the port. A folder that another server uses is
// not touched; if the port is taken, nothing was made yet.
func (s *Server) begin(ctx context.Context) error {
	if !s.private {
		s.say.line("Weir %s", s.options.Version)
		return s.listen(ctx)
	}
	s.say.line("Weir %s, data in %s", s.options.Version, s.config.Data)
	for _, step := range []func() error{
		s.takeFolder,
		func() error { return s.listen(ctx) },
		func() error { return makeFolder(s.config.Data) },
		s.takeFolder,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// step is one line of the start.
type step struct {
	doing string
	do    func(context.Context, *parts) (string, error)
}

// steps are what a start does, in order.
func (s *Server) steps() []step {
	var steps []step
	if s.config.DatabaseURL == "" {
		steps = append(steps, step{"Starting PostgreSQL", s.startPostgres})
	}
	steps = append(steps,
		step{"Bringing the schema up to date", s.migrate},
		step{"Making partitions", s.partition},
		step{"Opening the bucket", s.openStores},
		step{"Opening workspaces", s.openWorkspaces},
		step{"Starting the coordinator", s.coordinate},
		step{"Opening the dashboard and the API", s.open},
	)
	if s.config.RolloutWorkers > 0 {
		steps = append(steps, step{"Starting the executor of rollouts", s.startExecutor})
	}
	if s.private {
		steps = append(steps, step{"Starting the agent of this machine", s.startAgent})
	}
	if s.options.Demo {
		steps = append(steps, step{"Starting the demo", s.startDemo})
	}
	return steps
}

func (s *Server) takeFolder() error { return s.folder.take(s.config.Data) }

func (s *Server) startPostgres(ctx context.Context, p *parts) (string, error) {
	before := passable(s.config.Data)
	cluster, err := pg.Start(ctx, pg.Config{Dir: s.config.Data, Bin: s.config.PostgresBin, Logger: s.log})
	if err != nil {
		return "", err
	}
	s.cluster = cluster
	s.group.Go(func() {
		<-cluster.Done()
		if !s.stopping.Load() {
			s.failed <- &problem.Problem{
				Kind: problem.Failed, What: "PostgreSQL ended by itself",
				Next: fmt.Sprintf("its log says why: %s; weir up starts it again", filepath.Join(s.config.Data, "postgres", "server.log")),
			}
		}
	})
	if err := cluster.EnsureDatabase(ctx, databaseName); err != nil {
		return "", err
	}
	p.url = cluster.URL(databaseName)
	how := "version " + cluster.Version()
	if cluster.Adopted() {
		how = "adopted the one that ran, " + cluster.Version()
	}
	for _, dir := range opened(before, passable(s.config.Data)) {
		how += fmt.Sprintf(", opened %s for passing through (chmod o+x): its server is another user than root", dir)
	}
	return how, nil
}

func (s *Server) migrate(ctx context.Context, p *parts) (string, error) {
	migrate := pg.Migrate
	if s.cluster != nil {
		migrate = pg.MigrateOwn
	}
	report, err := migrate(ctx, p.url, schema.FS)
	if err != nil {
		return "", problem.OwnerOnly(err)
	}
	version := fmt.Sprintf("version %d.%d", report.Version, report.ObjectVersion)
	if !report.Changed() {
		return version + ", nothing to do", nil
	}
	return fmt.Sprintf("%s, applied %s and %s", version,
		count(len(report.Migrations), "migration", "migrations"), count(len(report.Objects), "function or view", "functions and views")), nil
}

func (s *Server) partition(ctx context.Context, p *parts) (_ string, err error) {
	if p.tracing, err = trace.Start(ctx, trace.Config{Endpoint: s.config.TraceEndpoint, Version: s.options.Version, Instance: s.config.NodeName, Log: s.log}); err != nil {
		return "", err
	}
	if p.pool, err = pg.Open(ctx, p.url, pg.Options{Name: "weir server", Configure: s.writes.Watch}); err != nil {
		return "", err
	}
	if err := s.sayPooled(ctx, p.pool); err != nil {
		return "", err
	}
	made, err := makeReady(ctx, p.pool, s.config.PartitionDays)
	if err != nil {
		return "", problem.OwnerOnly(fmt.Errorf("make partitions: %w", err))
	}
	if len(made) == 0 {
		return "all there", nil
	}
	return fmt.Sprintf("%d made", len(made)), nil
}

// wait returns when somebody wants the end, or when a part has failed.
func (s *Server) wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.failed:
			return err
		case <-s.options.Reload:
			s.reload()
		}
	}
}
