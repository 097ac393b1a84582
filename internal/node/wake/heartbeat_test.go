package wake

import "testing"

// TestHeartbeatSleeps calls as a worker does: its heartbeat returns the order to sleep,
// and the node is marked.
func TestHeartbeatSleeps(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.exec(`select weir.register_node('gpu-1', capacity => '{"renderer": 2}')`)
	r.exec(`update weir.nodes set registered_by = 'weir_worker'`) // the role that it uses below
	r.worker("w", "gpu-1", "renderer")
	r.exec(`select weir.set_wake('gpu-1', 'wol', '{"mac": "52:54:00:12:34:56"}', sleep_after => '10 min')`)
	beat := func() bool {
		t.Helper()
		tx, err := r.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(), `set local role weir_worker`); err != nil {
			t.Fatal(err)
		}
		var sleep bool
		if err := tx.QueryRow(t.Context(), `select sleep from weir.heartbeat('w')`).Scan(&sleep); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		return sleep
	}
	if beat() {
		t.Error("it sleeps at once")
	}
	r.exec(`update weir.nodes set busy_at = busy_at - interval '11 min'`)
	for range 2 { // the order is repeated, so that no heartbeat misses it
		if !beat() {
			t.Error("it does not sleep after eleven minutes with nothing to do")
		}
	}
	if got := one[string](r, `select wake_state from weir.node`); got != "asleep" {
		t.Errorf("it is %s", got)
	}
	r.wantEvents("gpu-1", "wake_set", "asleep")
}
