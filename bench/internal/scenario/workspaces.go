package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/weirhq/weir/bench/internal/meter"
	"github.com/weirhq/weir/bench/internal/workspaces"
	"github.com/weirhq/weir/internal/dockertest"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Values of Docker for workspaces, besides an address.
const (
	DockerAuto = "auto"
	DockerOff  = "off"
)

const (
	wakes = 30
	// asks is the number of requests one after the other.
	asks = 500
	// gateRounds is how often the ways take turns, each for gateFor.
	gateRounds, gateMany = 6, 64
	gateFor              = 300 * time.Millisecond
	// largeMiB is the size of the body whose transfer is timed.
	largeMiB, largeRounds = 64, 5
	// homeSmall is the smaller home that is archived, in MB.
	homeSmall = 200
	// looked is how many workspaces the controller looks at, and lookPasses how often.
	looked, lookPasses = 10_000, 5
	// reignSize is how many workspaces are under way when the leader is struck.
	reignSize = 20
	// reignTerm is the default of a server: how long a leader may be silent.
	reignTerm = 12 * time.Second
)

// site is the common base of the parts of the scenario.
type site struct {
	*Bench
	folder string
	// base is the database of all parts, and program is weir, once they were requested.
	base    *workspaces.Base
	program string
}

// houses measures workspaces, or only the requested part.
func houses(ctx context.Context, b *Bench, _ time.Duration) (err error) {
	s := &site{Bench: b}
	if s.folder, err = os.MkdirTemp("", "weir-bench-"); err != nil {
		return fmt.Errorf("create a folder for workspaces: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.folder)) }()
	defer func() {
		if s.base != nil {
			err = errors.Join(err, s.base.Close(context.WithoutCancel(ctx)))
		}
	}()
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"wake", s.wake}, {"proxy", s.proxy}, {"homes", s.homes}, {"failover", s.failover}, {"looks", s.looks}} {
		if b.Only != part.name && b.Only != "" && b.Only != "workspaces" {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// open returns the database of Weir, which is migrated. A base is made in it once.
func (s *site) open(ctx context.Context) (_ *workspaces.Base, err error) {
	if s.base != nil {
		return s.base, nil
	}
	for _, system := range s.Systems {
		if system.Name() == "weir" {
			if err := errors.Join(system.Reset(ctx), system.prepare(ctx)); err != nil {
				return nil, err
			}
			s.base, err = workspaces.OpenBase(ctx, s.Server.URL(system.Database))
			return s.base, err
		}
	}
	return nil, errors.New("weir is not among the systems")
}

// weir returns the program, built once.
func (s *site) weir(ctx context.Context) (_ string, err error) {
	if s.program == "" {
		s.program, err = workspaces.Program(ctx, s.Getenv("BENCH_WEIR"), s.folder)
	}
	return s.program, err
}

// engine returns the address of Docker and a function that ends it. why says why there is
// none.
func (s *site) engine(ctx context.Context) (host, why string, end func() error) {
	none := func() error { return nil }
	switch s.Docker {
	case DockerOff:
		return "", "switched off", none
	case DockerAuto:
		engine, err := dockertest.Open(ctx)
		if err != nil {
			return "", err.Error(), none
		}
		return engine.Host, "", engine.Close
	}
	return s.Docker, "", none
}

// Slept is how a provider woke.
type Slept struct {
	Scenario string             `json:"scenario"`
	Provider string             `json:"provider"`
	Wakes    []workspaces.Woken `json:"wakes"`
	Asks     []float64          `json:"asks_ms"`
}

// wake opens workspaces that are in standby, on a server.
func (s *site) wake(ctx context.Context) (err error) {
	base, err := s.open(ctx)
	if err != nil {
		return err
	}
	program, err := s.weir(ctx)
	if err != nil {
		return err
	}
	host, why, end := s.engine(ctx)
	defer func() { err = errors.Join(err, end()) }()
	providers := []string{"process"}
	if host != "" {
		providers = append(providers, "docker")
	}
	house, err := workspaces.OpenHouse(ctx, base, program, s.folder, host, providers...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.Close()) }()
	var all []Slept
	for _, provider := range providers {
		found := Slept{Scenario: "wake", Provider: provider}
		if found.Wakes, err = house.Wake(ctx, provider, max(int(wakes*s.Scale), 2)); err != nil {
			return fmt.Errorf("%s: %w", provider, err)
		}
		if found.Asks, err = house.Requests(ctx, provider, max(int(asks*s.Scale), 10)); err != nil {
			return fmt.Errorf("%s: %w", provider, err)
		}
		all = append(all, found)
		s.Report.Rounds = append(s.Report.Rounds, found)
	}
	s.showWake(all, why)
	return nil
}

// proxy sends requests to one backend directly, through a bare reverse proxy and through
// Weir's.
func (s *site) proxy(ctx context.Context) (err error) {
	base, err := s.open(ctx)
	if err != nil {
		return err
	}
	gate, err := workspaces.OpenGate(ctx, base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gate.Close()) }()
	scale := min(s.Scale, 1)
	rounds, length := max(int(gateRounds*scale), 1), max(time.Duration(float64(gateFor)*scale), 20*time.Millisecond)
	one, err := gate.Small(ctx, rounds, 1, length)
	if err != nil {
		return err
	}
	many, err := gate.Small(ctx, rounds, gateMany, length)
	if err != nil {
		return err
	}
	large, err := gate.Large(ctx, max(int(largeRounds*scale), 1), max(int(largeMiB*scale), 1))
	if err != nil {
		return err
	}
	echo, err := gate.Echo(ctx, rounds, length)
	if err != nil {
		return err
	}
	s.showProxy(one, many, large, echo)
	return nil
}

// homes archives a small and a large home.
func (s *site) homes(ctx context.Context) error {
	var all []workspaces.Homed
	for _, size := range []int{homeSmall, s.HomeMB} {
		found, err := workspaces.Home(ctx, s.folder, s.Getenv("BENCH_BUCKET"), max(int64(float64(size)*1e6*min(s.Scale, 1)), 1e6))
		if err != nil {
			return err
		}
		all = append(all, found)
		s.Report.Rounds = append(s.Report.Rounds, found)
	}
	s.showHomes(all)
	return nil
}

// looks has the controller look at many workspaces.
func (s *site) looks(ctx context.Context) (err error) {
	base, err := s.open(ctx)
	if err != nil {
		return err
	}
	n := max(int(looked*s.Scale), 100)
	watch, err := workspaces.OpenWatch(ctx, base, s.folder, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watch.Close()) }()
	var passes []passed
	for _, kind := range []struct {
		name, text    string
		times, change int
	}{
		{"first", "the first look: all are written", 1, 0},
		{"still", "nothing has changed", lookPasses, 0},
		{"change", "1 % look otherwise each time", lookPasses, n / 100},
	} {
		// Dead rows of the previous pass are vacuumed now instead of later.
		if _, err := base.Pool.Exec(ctx, `vacuum (analyze) weir.workspaces`); err != nil {
			return err
		}
		p := passed{name: kind.name, text: kind.text, change: kind.change}
		p.cost, err = s.measure(ctx, func() (err error) {
			p.Passed, err = watch.Pass(ctx, kind.times, kind.change)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", kind.text, err)
		}
		passes = append(passes, p)
	}
	return s.showLooks(n, passes)
}

// passed are passes of one kind.
type passed struct {
	workspaces.Passed
	name, text string
	change     int
	cost       meter.Cost
}

// failover strikes the leader while operations are under way.
func (s *site) failover(ctx context.Context) (err error) {
	base, err := s.open(ctx)
	if err != nil {
		return err
	}
	program, err := s.weir(ctx)
	if err != nil {
		return err
	}
	n := max(int(reignSize*min(s.Scale, 1)), 2)
	term := max(time.Duration(float64(reignTerm)*min(s.Scale, 1)), 2*time.Second)
	reign, err := workspaces.OpenReign(ctx, base, program, s.folder, n, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reign.Close(context.WithoutCancel(ctx))) }()
	killed, err := reign.Fall(ctx, ladder.Running, syscall.SIGKILL)
	if err != nil {
		return err
	}
	ended, err := reign.Fall(ctx, ladder.Standby, syscall.SIGTERM)
	if err != nil {
		return err
	}
	s.showFailover(n, term, killed, ended)
	return nil
}
