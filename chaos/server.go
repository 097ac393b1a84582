//go:build unix

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/weirhq/weir/internal/pg"
	"github.com/weirhq/weir/schema"
)

// Server is a PostgreSQL of one run, with fsync on, that can be killed.
type Server struct {
	config  pg.Config
	cluster *pg.Cluster
}

// NewServer makes a cluster in dir with a migrated database named chaos.
func NewServer(ctx context.Context, dir string) (*Server, error) {
	s := &Server{config: pg.Config{Dir: dir, Bin: os.Getenv("WEIR_POSTGRES_BIN"), Settings: map[string]string{"max_wal_size": "128MB", "shared_buffers": "32MB"}}}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	// The folder keeps its port, so that the address stays the same.
	err := s.cluster.EnsureDatabase(ctx, "chaos")
	if err == nil {
		_, err = pg.Migrate(ctx, s.URL(), schema.FS)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	started, err := pg.Start(ctx, s.config)
	if err == nil {
		s.cluster = started
	}
	return err
}

// URL is the address of the database.
func (s *Server) URL() string { return s.cluster.URL("chaos") }

// Kill kills every process of the server with -9, the postmaster first so that it cannot
// react, and starts it again.
func (s *Server) Kill(ctx context.Context) error {
	// It is stopped first, so that it makes no process that is missed here.
	if err := syscall.Kill(s.cluster.Pid(), syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	children, err := childrenOf(s.cluster.Pid())
	if err != nil {
		return err
	}
	for _, pid := range append([]int{s.cluster.Pid()}, children...) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("kill process %d of PostgreSQL: %w", pid, err)
		}
	}
	if err := s.Stop(ctx); err != nil { // it is dead: this releases the folder
		return err
	}
	return s.start(ctx)
}

// Stop stops the server in an orderly way.
func (s *Server) Stop(ctx context.Context) error { return s.cluster.Stop(ctx) }

// childrenOf finds the processes whose parent is pid.
func childrenOf(pid int) ([]int, error) {
	stats, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for the processes of PostgreSQL: %w", err)
	}
	var children []int
	for _, entry := range stats {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it ended
		}
		// pid (name) state parent …; the name may contain anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children, nil
}
