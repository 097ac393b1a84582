package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/bench/internal/flow/weirflow"
	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/server"
	"github.com/weirhq/weir/bench/internal/streams"
	"github.com/weirhq/weir/bench/internal/workspaces"
)

// Scenarios start this program again as their server or agent.
func TestMain(m *testing.M) {
	weirflow.Child()
	workspaces.Child()
	if streams.Child() {
		if err := streams.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A few streams run for two seconds: every one of them sees every event once, though some
// are cut off.
func TestStreamsSmall(t *testing.T) {
	srv, err := server.Open(t.Context(), "")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, nothing was tested: no PostgreSQL: %v", err)
	}
	defer func() {
		if err := srv.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(t.TempDir(), "bench.json")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-only", "streams", "-json", path, "-database-url", srv.URL("")}, environment("BENCH_SCALE", "0.005"), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found report.Report
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]float64{"p50_ms": 0, "p95_ms": 0, "p99_ms": 0, "changes_per_s": 1, "reconnects": 1, "rss_bytes_per_stream": 0} {
		if value := found.Value("streams.weir." + name); !(value >= least) {
			t.Errorf("%s is %v", name, value)
		}
	}
	if lost, twice := found.Value("streams.weir.lost"), found.Value("streams.weir.duplicated"); lost != 0 || twice != 0 {
		t.Errorf("lost %v, twice %v", lost, twice)
	}
}
