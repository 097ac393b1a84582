package testdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/pg"
)

// URLVariable names the environment variable with the superuser URL of the
// cluster that tests share.
const URLVariable = "WEIR_TEST_DATABASE_URL"

const prefix = "weir-testdb-"

// StartCluster starts a throw-away cluster in a temporary folder. The returned function
// stops the cluster and removes the folder.
func StartCluster(ctx context.Context) (*pg.Cluster, func() error, error) {
	return startCluster(ctx, os.Getenv("WEIR_POSTGRES_BIN"))
}

// StartMajor is StartCluster with a PostgreSQL of the given major version: the machine's,
// if it has one, else the build that is pinned for it.
func StartMajor(ctx context.Context, major int) (*pg.Cluster, func() error, error) {
	bin := fmt.Sprintf("/usr/lib/postgresql/%d/bin", major) // Debian, Ubuntu
	if _, err := os.Stat(filepath.Join(bin, "postgres")); err != nil {
		if bin, err = pg.Fetch(ctx, major, slog.New(slog.DiscardHandler)); err != nil {
			return nil, nil, err
		}
	}
	return startCluster(ctx, bin)
}

func startCluster(ctx context.Context, bin string) (*pg.Cluster, func() error, error) {
	base := scratch()
	sweep(base)
	dir, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // #nosec G302 -- started by root, the server is another user and must enter
		return nil, nil, err
	}
	cluster, err := pg.Start(ctx, pg.Config{
		Dir: dir,
		Bin: bin,
		Settings: map[string]string{
			// The data is not needed after a crash.
			"fsync":              "off",
			"full_page_writes":   "off",
			"synchronous_commit": "off",
			"max_connections":    "500",
			"max_wal_size":       "512MB",
			"wal_compression":    "off",
			// A database lives for seconds, and there are a hundred of them.
			"autovacuum_naptime": "5min",
		},
	})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start a cluster for tests: %w", err), os.RemoveAll(dir))
	}
	stop := func() error {
		return errors.Join(cluster.Stop(context.Background()), os.RemoveAll(dir))
	}
	if err := ease(ctx, cluster.URL("postgres")); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start a cluster for tests: %w", err), stop())
	}
	return cluster, stop, nil
}

// scratch returns the folder for throw-away clusters: memory if the system has plenty,
// because cloning a database there takes 10 ms instead of 150.
func scratch() string {
	const shm, enough = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(shm, &fs) != nil {
		return os.TempDir()
	}
	if uint64(fs.Bavail)*uint64(fs.Bsize) < enough { // #nosec G115 -- a size of blocks is positive
		return os.TempDir()
	}
	return shm
}

// sweep removes the folders of test processes that were killed. A folder whose lock can
// be taken has no owner; folders younger than a minute are left alone because they may
// just be being made.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, prefix+"*", "postgres", "lock"))
	for _, path := range locks {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		if err == nil && time.Since(info.ModTime()) > time.Minute &&
			syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(filepath.Dir(path))) // the next sweep tries again
		}
		f.Close()
	}
}
