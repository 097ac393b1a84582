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

// A few steps of every shape run, with a server and an agent as processes. The figures
// are meaningless, but they must be present.
func TestWorkflowsSmall(t *testing.T) {
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
	args := []string{"-only", "workflows", "-temporal", "off", "-json", path, "-database-url", srv.URL("")}
	if err := run(t.Context(), args, environment("BENCH_SCALE", "0.005"), &out); err != nil {
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
	for name, size := range map[string]float64{
		"chain": 5, "chain_results": 5, "chain_process": 5, "fan_needs": 20, "fan_map": 20, "burst": 50, "burst_batch": 50, "due_jobs": 20, "due_tasks": 20,
	} {
		if got := found.Value("workflows.weir." + name + "_size"); got != size {
			t.Errorf("%s has the size %v, want %v", name, got, size)
		}
	}
	for _, name := range []string{
		"weir.chain_each_ms", "weir.chain_results_each_ms", "weir.chain_process_each_ms", "weir.fan_needs_s", "weir.fan_map_s",
		"weir.burst_submitted_per_s", "weir.burst_done_s", "weir.burst_batch_submitted_per_s", "weir.burst_batch_done_s",
		"weir.due_jobs_late_p50_ms", "weir.due_jobs_late_p99_ms", "weir.due_tasks_late_p99_ms", "weir.due_tasks_made_p99_ms",
		"machine.commit_ms", "machine.process_ms", "machine.fibonacci33_ms",
	} {
		if value := found.Value("workflows." + name); !(value > 0) {
			t.Errorf("figure %s is %v", name, value)
		}
	}
	judged := 0
	for _, v := range found.Goals {
		if v.Scenario == "workflows" && v.Result != "not measured" {
			judged++
		}
	}
	if judged != 4 {
		t.Errorf("%d goals were judged, want 4", judged)
	}
	// Without a peer, its published figures are shown and marked as such.
	for _, part := range []string{"no Temporal: switched off", "19.00", "9.80", "4,270", "(published)"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the output lacks %q:\n%s", part, &out)
		}
	}
}
