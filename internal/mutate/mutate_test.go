package mutate

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestNoRowIsStale finds rows that do not fit the tree any more, without running
// one: the guard was written anew, or its test has another name.
func TestNoRowIsStale(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Rows() {
		if names[r.Guard] {
			t.Errorf("two rows are called %q", r.Guard)
		}
		names[r.Guard] = true
		if err := r.Stale(root); err != nil {
			t.Errorf("%s: %v", r.Guard, err)
		}
	}
	if len(names) < 80 {
		t.Errorf("only %d guards have a row", len(names))
	}
}

// owed are files of the schema that have guards without a row: nobody would
// notice if such a guard were gone. The list only gets shorter.
var owed = strings.Fields(`
	_ask_to_stop _device_checked _device_command _device_gone _device_worked _due _expire _fleet_advance _fleet_again _fleet_alive
	_fleet_claimed _fleet_device_row _fleet_failed _fleet_fresh _fleet_holds _fleet_next _fleet_overlap _fleet_pick_open _fleet_sees
	_fleet_stop _fleet_worker _flow_job _map_pools _note_wake _open _open_pools _planning _raise_floors _rollout_resolved _settle
	_tend_chains _tend_gates 	drop_node drop_workflow fenced fleet_claim fleet_report fleet_tend put_workflow register_node reschedule_job rollout_approve
	rollout_checked rollout_drop_database rollout_pause rollout_promote rollout_put_database rollout_resume rollout_revoke
	rollout_start rollout_sweep set_fleet_policy set_pool set_schedule set_workspace_policy tend workflow_patience workflow_plan
	workspace_archived workspace_busy workspace_code_make workspace_expire workspace_patch workspace_recover workspace_resume
	workspace_see workspace_unknown workspace_want 0003_pages
`)

// TestEveryGuardHasARow finds guards of a known form (a token check, a row lock, an
// advisory lock, a unique index, a horizon, an epoch) that no row takes out.
func TestEveryGuardHasARow(t *testing.T) {
	var files []string
	for _, pattern := range []string{"schema/functions/*.sql", "schema/migrations/*.sql"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 300 {
		t.Fatalf("only %d files: nothing was tested", len(files))
	}
	for _, f := range files {
		name, err := filepath.Rel(root, f)
		if err != nil {
			t.Fatal(err)
		}
		bare, err := Uncovered(root, filepath.ToSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		known := slices.Contains(owed, strings.TrimSuffix(filepath.Base(f), ".sql"))
		if len(bare) > 0 && !known {
			t.Errorf("a guard without a row in internal/mutate; add one, with the test that fails without the guard:\n  %s", strings.Join(bare, "\n  "))
		}
		if len(bare) == 0 && known {
			t.Errorf("%s: every guard has a row by now; take it off the list", name)
		}
	}
}
