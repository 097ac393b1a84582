//go:build unix

package pg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// owner is the role that owns everything in an embedded cluster. It is not
// called weir: then the schema weir would be on its search path, and statements
// that forget to name the schema would work here and nowhere else.
const owner = "postgres"

// Config describes the cluster to run. Only Dir is required.
type Config struct {
	// Dir is Weir's data folder; the cluster lives in Dir/postgres.
	Dir string
	// Bin is the folder of the server's programs (WEIR_POSTGRES_BIN). If empty, Start
	// looks for an installed server, then fetches one.
	Bin string
	// Port is the port on 127.0.0.1. Zero means the one used last, or any free one.
	Port int
	// Settings are added to ours in weir.conf and override them. An adopted server keeps
	// the settings it was started with.
	Settings map[string]string
	// CacheDir holds the fetched build. Empty means the user's cache folder.
	CacheDir string
	// Logger gets a line about slow steps. If nil, nothing is logged.
	Logger *slog.Logger
}

// Cluster is a running embedded server. It is safe for concurrent use.
type Cluster struct {
	cfg      Config
	log      *slog.Logger
	home     string // Dir/postgres
	lock     *os.File
	account  *account
	password string
	port     int
	sockets  string
	version  string
	process  *process
	adopted  bool
}

// Start starts the cluster in cfg.Dir and returns when it answers queries. It waits as
// long as the server needs to recover; ctx limits that.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	c, err := openFolder(cfg)
	if err == nil {
		if err = c.start(ctx); err != nil {
			err = errors.Join(err, unlockFolder(c.lock))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("embedded PostgreSQL in %s: %w", cfg.Dir, err)
	}
	return c, nil
}

// openFolder makes the folder, takes its lock and reads its stored state.
func openFolder(cfg Config) (*Cluster, error) {
	if cfg.Dir == "" {
		return nil, errors.New("no data folder given")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, log: cfg.Logger, home: filepath.Join(dir, "postgres")}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // the server's user passes through; the contents are private
	}
	if err := os.MkdirAll(c.home, mode); err != nil {
		return nil, err
	}
	if err := os.Chmod(c.home, mode); err != nil {
		return nil, err
	}
	if c.lock, err = lockFolder(c.path("lock")); err != nil {
		return nil, err
	}
	if err = c.prepare(); err != nil {
		return nil, errors.Join(err, unlockFolder(c.lock))
	}
	return c, nil
}

func (c *Cluster) prepare() (err error) {
	if c.account, err = serverAccount(c.data()); err != nil {
		return err
	}
	if err = c.account.reach(c.data()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err = c.account.reach(c.path("lock")); err != nil {
		return err
	}
	c.password, err = c.loadPassword()
	return err
}

// start adopts the server that runs in the folder, or runs one.
func (c *Cluster) start(ctx context.Context) error {
	found, err := c.adopt(ctx)
	if found || err != nil {
		return err
	}
	bin, err := c.binaries(ctx)
	if err != nil {
		return err
	}
	if err := c.initialise(ctx, bin); err != nil {
		return err
	}
	return c.launch(ctx, bin)
}

// binaries finds the server's programs, or fetches them.
func (c *Cluster) binaries(ctx context.Context) (binaries, error) {
	major := 0
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	switch {
	case err == nil:
		if major, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			return binaries{}, fmt.Errorf("read PG_VERSION of the data folder: %w", err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return binaries{}, err
	}
	b, err := newFinder(c.cfg.Bin).find(ctx, major)
	fetchable := errors.Is(err, errNoBinaries) || errors.Is(err, ErrMajorVersion) && c.cfg.Bin == "" && major == fetchMajor
	if fetchable {
		b, err = c.fetched(ctx, major)
	}
	if err != nil {
		return binaries{}, err
	}
	if err := c.account.reach(b.path("postgres")); err != nil {
		return binaries{}, err
	}
	return b, nil
}

func (c *Cluster) fetched(ctx context.Context, major int) (binaries, error) {
	cache := c.cfg.CacheDir
	if cache == "" {
		var err error
		if cache, err = defaultCache(); err != nil {
			return binaries{}, err
		}
	}
	dir, err := fetch(ctx, fetchMajor, cache, c.log)
	if err != nil {
		return binaries{}, fmt.Errorf("no PostgreSQL server is installed, and none could be fetched: %w. Install one with: %s", err, installHint())
	}
	b, err := inspect(ctx, dir)
	if err != nil {
		return binaries{}, err
	}
	return pick([]binaries{b}, major)
}

// defaultCache returns a folder that the server's user can enter.
func defaultCache() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/weir", nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "weir"), err
}

// URL returns the address of a database of this cluster for its owner, a superuser.
func (c *Cluster) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(owner, c.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// EnsureDatabase creates the database unless it exists.
func (c *Cluster) EnsureDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("make database %s: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var exists bool
	err = conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&exists)
	if err == nil && !exists {
		_, err = conn.Exec(ctx, `create database `+pgx.Identifier{name}.Sanitize())
	}
	if err != nil {
		return fmt.Errorf("make database %s: %w", name, err)
	}
	return nil
}

// Adopted reports whether the server was already running when Start was called.
func (c *Cluster) Adopted() bool { return c.adopted }

// Version returns the server's version, such as "17.10".
func (c *Cluster) Version() string { return c.version }

// Pid returns the postmaster's process id.
func (c *Cluster) Pid() int { return c.process.handle.Pid }

// Done is closed when the server has ended, expected or not.
func (c *Cluster) Done() <-chan struct{} { return c.process.done }

// LogTail returns the end of the server's log, for a person to read.
func (c *Cluster) LogTail() string { return tail(c.path("server.log"), 0) }

// Stop shuts the server down and releases the folder. Close every pool first. When ctx
// ends, the shutdown becomes immediate, which loses nothing but makes the next start
// recover. Stopping a stopped cluster does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	if err := c.process.stop(ctx); err != nil {
		return err
	}
	if c.sockets != c.path("run") {
		_ = os.Remove(c.sockets) // a short folder made for this run; empty by now
	}
	return unlockFolder(c.lock)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.home, name) }
func (c *Cluster) data() string            { return c.path("data") }

// loadPassword reads the password, or makes it for a new cluster.
func (c *Cluster) loadPassword() (string, error) {
	text, err := os.ReadFile(c.path("password"))
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if _, err := os.Stat(c.data()); err == nil {
		return "", fmt.Errorf("the file %s is missing: put it back from a copy of the data folder", c.path("password"))
	}
	password := rand.Text()
	return password, os.WriteFile(c.path("password"), []byte(password+"\n"), 0o600)
}
