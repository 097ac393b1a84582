package meter

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Meter reads the costs of one PostgreSQL server and of this process.
type Meter struct {
	conn *pgx.Conn
	// postmaster is the process whose children are the server, or 0 when the
	// server is not on this machine and its CPU time cannot be read.
	postmaster int
}

// New takes over conn, which must not be used for anything else.
func New(ctx context.Context, conn *pgx.Conn) (*Meter, error) {
	m := &Meter{conn: conn}
	var backend int
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&backend); err != nil {
		return nil, fmt.Errorf("find the server process: %w", err)
	}
	// A remote server may by chance have a pid that exists here too, so the
	// name is checked as well.
	if stat, err := readStat(backend); err == nil && stat.command == "postgres" {
		m.postmaster = stat.parent
	}
	return m, nil
}

// Reading is the state of all meters at one instant.
type Reading struct {
	At time.Time
	// LSN is the position in the WAL, in bytes.
	LSN int64
	// Postgres is the CPU time of the whole server; Known is set if it could be read.
	Postgres time.Duration
	Known    bool
	// Client is the CPU time of this process.
	Client time.Duration
}

// Read reads all meters. The clock is read first, so that the reading itself is outside
// of a span that ends here.
func (m *Meter) Read(ctx context.Context) (Reading, error) {
	r := Reading{At: time.Now()}
	err := m.conn.QueryRow(ctx, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").Scan(&r.LSN)
	if err != nil {
		return Reading{}, fmt.Errorf("read the WAL position: %w", err)
	}
	if m.postmaster != 0 {
		if r.Postgres, err = familyCPU(m.postmaster); err != nil {
			return Reading{}, err
		}
		r.Known = true
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return Reading{}, fmt.Errorf("read own CPU time: %w", err)
	}
	r.Client = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return r, nil
}

// Cost is the difference between two readings.
type Cost struct {
	Elapsed  time.Duration
	WAL      int64
	Postgres time.Duration
	Client   time.Duration
	Known    bool
}

// Since returns the cost from an earlier reading to r.
func (r Reading) Since(before Reading) Cost {
	return Cost{
		Elapsed:  r.At.Sub(before.At),
		WAL:      r.LSN - before.LSN,
		Postgres: r.Postgres - before.Postgres,
		Client:   r.Client - before.Client,
		Known:    r.Known && before.Known,
	}
}

// Plus adds another cost, for example that of a second phase.
func (c Cost) Plus(other Cost) Cost {
	return Cost{
		Elapsed:  c.Elapsed + other.Elapsed,
		WAL:      c.WAL + other.WAL,
		Postgres: c.Postgres + other.Postgres,
		Client:   c.Client + other.Client,
		Known:    c.Known && other.Known,
	}
}

// Rate returns n per second of elapsed time.
func (c Cost) Rate(n int) float64 {
	return float64(n) / c.Elapsed.Seconds()
}

// WALPer returns bytes of WAL for each of n.
func (c Cost) WALPer(n int) float64 {
	return float64(c.WAL) / float64(n)
}

// PostgresPer returns microseconds of server CPU for each of n, or NaN when it
// could not be read.
func (c Cost) PostgresPer(n int) float64 {
	if !c.Known {
		return math.NaN()
	}
	return float64(c.Postgres.Microseconds()) / float64(n)
}

// ClientPer returns microseconds of this process's CPU for each of n.
func (c Cost) ClientPer(n int) float64 {
	return float64(c.Client.Microseconds()) / float64(n)
}
