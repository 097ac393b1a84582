package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/bench/internal/report"
	"github.com/weirhq/weir/bench/internal/server"
)

// Every part of workspaces runs at a tiny size, without Docker. The figures are
// meaningless, but they must be present.
func TestWorkspacesSmall(t *testing.T) {
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
	program, err := os.Executable() // it is weir, too
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bench.json")
	var out bytes.Buffer
	args := []string{"-only", "workspaces", "-docker", "off", "-json", path, "-database-url", srv.URL("")}
	if err := run(t.Context(), args, environment("BENCH_SCALE", "0.005", "BENCH_WEIR", program), &out); err != nil {
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
	for _, name := range []string{
		"wake.process.p50_ms", "wake.process.p95_ms", "wake.process.get_p50_ms", "proxy.direct.one_p50_ms", "proxy.bare.one_p50_ms", "proxy.weir.one_p50_ms", "proxy.weir.many_per_s",
		"proxy.weir.large_mb_per_s", "proxy.weir.echo_p95_ms", "homes.small.archive_mb_per_s", "homes.small.verify_mb_per_s", "homes.large.restore_mb_per_s", "homes.large.peak_rss_mb",
		"looks.weir.first_rows_written", "looks.weir.still_ms", "looks.weir.still_statements", "looks.weir.change_rows_written", "failover.killed.led_s", "failover.killed.all_s", "failover.ended.all_s",
	} {
		if value := found.Value(name); !(value > 0) {
			t.Errorf("figure %s is %v", name, value)
		}
	}
	for _, name := range []string{"looks.weir.still_rows_written", "failover.killed.twice", "failover.ended.twice"} {
		if value := found.Value(name); value != 0 {
			t.Errorf("figure %s is %v", name, value)
		}
	}
	if !strings.Contains(out.String(), "docker is not measured: switched off") {
		t.Errorf("it does not say that Docker is off:\n%s", &out)
	}
}

func TestParseWorkspaces(t *testing.T) {
	o, err := parse([]string{"-only", "looks", "-docker", "off", "-home-mb", "50"}, environment())
	if err != nil || o.only != "looks" || o.docker != "off" || o.homeMB != 50 || o.scenarios[0].Names[0] != "workspaces" {
		t.Errorf("options = %+v, %v", o, err)
	}
}
