package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// minMajor is the oldest major version whose SQL we use.
const minMajor = 15

// ErrMajorVersion means that the data folder was written by a major version of PostgreSQL
// for which there are no binaries here.
var ErrMajorVersion = errors.New("the data folder belongs to another major version of PostgreSQL")

// errNoBinaries means that no usable server is installed.
var errNoBinaries = errors.New("no PostgreSQL server found")

// binaries is a folder with the programs of one server version.
type binaries struct {
	dir   string
	major int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// finder looks for installed servers. Its fields are the places where it looks.
type finder struct {
	bin   string   // the setting; when set, nothing else counts
	path  string   // a list like $PATH
	globs []string // the well-known folders
}

func newFinder(bin string) finder {
	return finder{bin: bin, path: os.Getenv("PATH"), globs: []string{
		"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
		"/usr/bin",                  // Fedora
		"/usr/pgsql-*/bin",          // Fedora and RHEL, packages of the PostgreSQL project
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	}}
}

// find returns the server to run: the setting, else the first on the path, else the
// newest of the well-known folders. With major > 0 (there is data already) only a server
// of that major version is accepted.
func (f finder) find(ctx context.Context, major int) (binaries, error) {
	if f.bin != "" {
		b, err := inspect(ctx, f.bin)
		if err != nil {
			return binaries{}, fmt.Errorf("the PostgreSQL binaries setting %s: %w", f.bin, err)
		}
		return pick([]binaries{b}, major)
	}
	var known []binaries
	for _, glob := range f.globs {
		dirs, _ := filepath.Glob(glob) // the patterns are constants and well formed
		known = append(known, inspectAll(ctx, dirs)...)
	}
	slices.SortStableFunc(known, func(a, b binaries) int { return b.major - a.major })
	return pick(append(inspectAll(ctx, onPath(ctx, f.path)), known...), major)
}

// pick returns the first of found that has the major version.
func pick(found []binaries, major int) (binaries, error) {
	if len(found) == 0 {
		return binaries{}, errNoBinaries
	}
	if major == 0 {
		return found[0], nil
	}
	for _, b := range found {
		if b.major == major {
			return b, nil
		}
	}
	return binaries{}, fmt.Errorf("%w: it needs %d and the newest here is %d (%s). "+
		"Install PostgreSQL %d, or set WEIR_POSTGRES_BIN to its bin folder, or upgrade the data with pg_upgrade. Nothing was changed",
		ErrMajorVersion, major, found[0].major, found[0].dir, major)
}

// onPath lists the folders that hold the servers reachable from a PATH list. A `postgres`
// there may be a link to a folder with its siblings, and some systems put only pg_config
// on the path.
func onPath(ctx context.Context, path string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // never run a program from the current folder
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
		if config := filepath.Join(dir, "pg_config"); executable(config) {
			if out, err := output(ctx, config, "--bindir"); err == nil {
				dirs = append(dirs, strings.TrimSpace(out))
			}
		}
	}
	return dirs
}

// inspectAll keeps the folders with a usable server, each once.
func inspectAll(ctx context.Context, dirs []string) []binaries {
	var found []binaries
	for _, dir := range dirs {
		b, err := inspect(ctx, dir)
		if err == nil && !slices.Contains(found, b) {
			found = append(found, b)
		}
	}
	return found
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect asks the server in dir for its version. A folder with only the client
// programs is refused here.
func inspect(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	for _, program := range []string{"postgres", "initdb"} {
		if !executable(b.path(program)) {
			return b, fmt.Errorf("%s has no program %s: install the server package, not only the client", dir, program)
		}
	}
	out, err := output(ctx, b.path("postgres"), "-V")
	if err != nil {
		return b, fmt.Errorf("ask %s for its version: %w", b.path("postgres"), err)
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return b, fmt.Errorf("%s answered %q, which names no version", b.path("postgres"), out)
	}
	b.major, _ = strconv.Atoi(m[1])
	if b.major < minMajor {
		return b, fmt.Errorf("%s is PostgreSQL %d, Weir needs %d or newer", dir, b.major, minMajor)
	}
	return b, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func output(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	return string(out), err
}

// installHint returns the command that installs a server on this machine.
func installHint() string {
	for _, m := range []struct{ program, line string }{
		{"apt-get", "sudo apt-get install -y postgresql"},
		{"dnf", "sudo dnf install -y postgresql-server postgresql-contrib"},
		{"brew", "brew install postgresql@17"},
	} {
		if _, err := exec.LookPath(m.program); err == nil {
			return m.line
		}
	}
	return fmt.Sprintf("install PostgreSQL %d or newer with your package manager", minMajor)
}
