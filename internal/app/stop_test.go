package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testdb"
	"github.com/weirhq/weir/internal/testwait"
)

// TestAStopOfUpLeavesTheWork stops weir up while its own agent runs a task, and starts it
// again: the task goes on meanwhile and ends in its first attempt.
func TestAStopOfUpLeavesTheWork(t *testing.T) {
	t.Parallel()
	db, data := testdb.New(t), t.TempDir()
	config := Config{DatabaseURL: db.URL, Data: data, NodeName: "here"}
	ctx := context.Background()
	text := func(sql string, args ...any) (v string) {
		t.Helper()
		if err := db.Pool.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return v
	}
	file := filepath.Join(data, "go")
	first := up(t, config, Options{})
	id := text(`select task::text from weir.submit_many(jsonb_build_array(jsonb_build_object('service', 'exec', 'max_attempts', 1,
		'run', jsonb_build_object('driver', 'exec', 'argv', array['/bin/sh', '-c', 'touch ' || $1 || '.began; until test -e ' || $1 || '; do sleep 0.02; done']))))`, file)
	testwait.Until(t, "it runs", func() bool { _, err := os.Stat(file + ".began"); return err == nil })
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.out.String(), "1 task runs on") {
		t.Errorf("it does not say that work goes on:\n%s", first.out.String())
	}
	if got := text(`select state::text from weir.task where id = $1`, id); got != "running" {
		t.Fatalf("the task is %s", got)
	}
	second := up(t, config, Options{})
	testwait.Until(t, "it is adopted", func() bool {
		return text(`select count(*)::text from weir.events where task = $1 and type = 'adopted'`, id) == "1"
	})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "it is done", func() bool {
		return text(`select concat_ws(' ', state::text, attempt::text) from weir.task where id = $1`, id) == "done 1"
	})
	if err := second.stop(); err != nil {
		t.Error(err)
	}
}
