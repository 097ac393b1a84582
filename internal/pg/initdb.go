//go:build unix

package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// initialise makes the data folder unless it exists. It works beside the target and
// renames, so an initdb that was killed leaves nothing half made.
func (c *Cluster) initialise(ctx context.Context, bin binaries) error {
	if _, err := os.Stat(c.data()); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	began := time.Now()
	// Compare bytes, but know the letters of every language where the system does; a
	// system without that locale gets the plain one.
	err := c.initdb(ctx, bin, "C.UTF-8")
	if err != nil && strings.Contains(err.Error(), "invalid locale") {
		err = c.initdb(ctx, bin, "C")
	}
	if err != nil {
		return err
	}
	c.log.Info("made a PostgreSQL cluster", "folder", c.data(), "major", bin.major, "took", time.Since(began).Round(time.Millisecond))
	return os.Rename(c.path("data.new"), c.data())
}

func (c *Cluster) initdb(ctx context.Context, bin binaries, ctype string) error {
	dir, pwfile := c.path("data.new"), c.path("pwfile")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), c.account.own(dir)); err != nil {
		return err
	}
	// A copy, because the server's user must read it and must not own ours.
	defer os.Remove(pwfile)
	if err := errors.Join(os.WriteFile(pwfile, []byte(c.password+"\n"), 0o600), c.account.own(pwfile)); err != nil {
		return err
	}
	args := []string{
		"-D", dir, "-U", owner, "--auth=scram-sha-256", "--pwfile=" + pwfile,
		"--encoding=UTF8", "--locale=C", "--lc-ctype=" + ctype, "--data-checksums",
	}
	if c.cfg.Settings["fsync"] == "off" {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, bin.path("initdb"), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.home, serverEnv(), c.account.attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, lastLines(string(out), 15))
	}
	conf, err := os.OpenFile(filepath.Join(dir, "postgresql.conf"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString("\n# Weir's settings. ALTER SYSTEM wins over them.\ninclude_if_exists = 'weir.conf'\n")
	return errors.Join(err, conf.Close())
}

// serverEnv keeps our environment from the server: it may hold secrets, and PG* or LC_*
// variables would change the server's behavior.
func serverEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// writeConf writes weir.conf: settings for a laptop, then those of the caller.
func (c *Cluster) writeConf(bin binaries) error {
	settings := map[string]string{
		"max_connections":                  "200",
		"shared_buffers":                   "256MB",
		"max_wal_size":                     "2GB",
		"wal_compression":                  "on",
		"checkpoint_timeout":               "15min",
		"random_page_cost":                 "1.1",
		"jit":                              "off", // our statements are short; compiling them costs more
		"autovacuum_naptime":               "10s", // hot tables turn over within seconds
		"timezone":                         "UTC",
		"log_timezone":                     "UTC",
		"log_line_prefix":                  "%m [%p] %q%a ",
		"log_checkpoints":                  "off",
		"cluster_name":                     "weir",
		"tcp_keepalives_idle":              "60",
		"client_connection_check_interval": "10s",
	}
	if bin.has("pg_stat_statements") {
		settings["shared_preload_libraries"] = "pg_stat_statements"
	}
	maps.Copy(settings, c.cfg.Settings)
	var text strings.Builder
	text.WriteString("# Written by Weir at every start. Change settings with ALTER SYSTEM.\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !settingName.MatchString(name) || strings.ContainsAny(settings[name], "\n\r\x00") {
			return fmt.Errorf("the PostgreSQL setting %q cannot be written", name)
		}
		fmt.Fprintf(&text, "%s = '%s'\n", name, strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(settings[name]))
	}
	path := filepath.Join(c.data(), "weir.conf")
	return errors.Join(os.WriteFile(path, []byte(text.String()), 0o600), c.account.own(path))
}

// has reports whether the server has a loadable library. The folders are those that
// builds use, relative to the programs.
func (b binaries) has(library string) bool {
	for _, dir := range []string{"../lib", "../lib/postgresql", "../lib/pgsql", "../lib64/pgsql", "../lib64/postgresql"} {
		for _, suffix := range []string{".so", ".dylib"} {
			if _, err := os.Stat(filepath.Join(b.dir, dir, library+suffix)); err == nil {
				return true
			}
		}
	}
	return false
}
