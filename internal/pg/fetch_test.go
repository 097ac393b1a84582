package pg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// missing ends a test that lacks a component: a failure in CI, else a skip.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip("SKIPPED, NOT TESTED: ", what)
}

// TestFetchedServerRuns downloads the pinned build for this platform, starts it and runs
// a query.
func TestFetchedServerRuns(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cache := filepath.Join(t.TempDir(), "cache")
	bin, err := fetch(ctx, fetchMajor, cache, slog.New(slog.DiscardHandler))
	if errors.Is(err, errChecksum) {
		t.Fatal(err)
	}
	if err != nil {
		missing(t, "the pinned PostgreSQL cannot be fetched: "+err.Error())
	}
	left, _ := filepath.Glob(filepath.Join(cache, "fetch-*"))
	if len(left) > 0 {
		t.Errorf("left in the cache: %v", left)
	}

	// The second time it comes from the cache, with npm or without.
	path := os.Getenv("PATH")
	t.Setenv("PATH", "")
	if again, err := fetch(ctx, fetchMajor, cache, slog.New(slog.DiscardHandler)); err != nil || again != bin {
		t.Errorf("second fetch: %q, %v", again, err)
	}
	t.Setenv("PATH", path)

	cluster, err := Start(ctx, Config{Dir: t.TempDir(), Bin: bin})
	if err != nil {
		t.Fatal(err)
	}
	defer stopCluster(t, cluster)
	conn, err := pgx.Connect(ctx, cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var version int
	var preload string
	if err := conn.QueryRow(ctx, `select current_setting('server_version_num')::int, current_setting('shared_preload_libraries')`).Scan(&version, &preload); err != nil {
		t.Fatal(err)
	}
	if version/10000 != fetchMajor || preload != "pg_stat_statements" {
		t.Errorf("version %d, preloaded %q", version, preload)
	}
}

// entry is one member of an archive made for a test.
type entry struct {
	name, text string
	kind       byte
}

// pack writes an archive and returns its path and integrity.
func pack(t *testing.T, entries ...entry) (path, integrity string) {
	t.Helper()
	var buffer bytes.Buffer
	zw := gzip.NewWriter(&buffer)
	tw := tar.NewWriter(zw)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: 0o755, Typeflag: tar.TypeReg, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink {
			header.Typeflag, header.Linkname, header.Size = e.kind, e.text, 0
		}
		if err := tw.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			if _, err := tw.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "build.tgz")
	if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(buffer.Bytes())
	return path, "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func TestUnpack(t *testing.T) {
	archive, integrity := pack(t,
		entry{name: "package/native/bin/postgres", text: "program"},
		entry{name: "package/native/lib/libpq.so.5.17", text: "library"},
		entry{
			name: "package/native/pg-symlinks.json",
			text: `[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so"}]`,
		})
	dir := filepath.Join(t.TempDir(), "tree")
	if err := unpack(archive, integrity, dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "native/lib/libpq.so")); string(text) != "library" {
		t.Errorf("through the link: %q, %v", text, err)
	}
	if !executable(filepath.Join(dir, "native/bin/postgres")) {
		t.Error("the program is not executable")
	}
}

func TestUnpackRefusesAWrongChecksum(t *testing.T) {
	archive, _ := pack(t, entry{name: "package/native/bin/postgres", text: "program"})
	_, other := pack(t, entry{name: "package/native/bin/postgres", text: "another program"})
	dir := filepath.Join(t.TempDir(), "tree")
	if err := unpack(archive, other, dir); !errors.Is(err, errChecksum) {
		t.Errorf("got %v, want errChecksum", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("something was unpacked before the checksum was known to be right")
	}
}

func TestUnpackStaysInItsFolder(t *testing.T) {
	for name, entries := range map[string][]entry{
		"path upwards":   {{name: "package/../evil", text: "x"}},
		"path far up":    {{name: "package/a/../../../evil", text: "x"}},
		"absolute path":  {{name: "package//evil", text: "x"}},
		"link upwards":   {{name: "package/native/pg-symlinks.json", text: `[{"source":"../../evil","target":"native/a"}]`}},
		"target upwards": {{name: "package/native/pg-symlinks.json", text: `[{"source":"native/a","target":"../../evil"}]`}},
		"same file twice": {
			{name: "package/a", text: "x"}, {name: "package/a", text: "y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			archive, integrity := pack(t, entries...)
			dir := filepath.Join(t.TempDir(), "outside", "tree")
			if err := os.Mkdir(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unpack(archive, integrity, dir); err == nil {
				t.Error("unpacked without an error")
			}
			if _, err := os.Stat(dir); err != nil {
				t.Fatalf("it failed before it came to the names: %v", err)
			}
			for _, path := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir)), "/"} {
				if _, err := os.Lstat(filepath.Join(path, "evil")); err == nil {
					t.Errorf("written outside: %s/evil", path)
				}
			}
		})
	}
	t.Run("links in the archive are not made", func(t *testing.T) {
		archive, integrity := pack(t, entry{name: "package/a", text: "/etc/passwd", kind: tar.TypeSymlink})
		dir := filepath.Join(t.TempDir(), "tree")
		if err := unpack(archive, integrity, dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
			t.Error("the link was made")
		}
	})
}

func TestInstallHintNamesACommand(t *testing.T) {
	if !strings.Contains(installHint(), "install") {
		t.Errorf("got %q", installHint())
	}
}
