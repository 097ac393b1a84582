package fleetpages

import (
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/fleet"
)

// A row is what runs, then what waits for work, then slots that no device can fill;
// it is bounded, and says how many cells it leaves out.
func TestSlotRow(t *testing.T) {
	now := time.Now()
	job := weir.ID{1}
	busy := []fleet.Slot{
		{Serial: "a", Job: job, Attempt: 1, ClaimedAt: now.Add(-12*time.Minute - time.Second), JobName: "warmup"},
		{Serial: "b", Job: job, Attempt: 2, ClaimedAt: now.Add(time.Second), JobName: "warmup"},
		{Serial: "c", Attempt: 1, ClaimedAt: now.Add(-time.Minute)},
	}
	row := slotRow(t.Context(), fleet.PC{Name: "PC-01", Slots: 100, Target: 5, Running: 1}, busy, now)
	want := []struct{ kind, text, said string }{
		{"running", "12", "a: running, 12 min. warmup"},
		{"retry", "↻0", "b: another attempt runs, 0 min. warmup, attempt 2"},
		{"check", "?1", "c: health task, 1 min. its health task runs"},
		{"free", "", "slot 4: waits for work"},
		{"free", "", "slot 5: waits for work"},
		{"none", "", "slot 6: no eligible device"},
	}
	for i, w := range want {
		if c := row.cells[i]; c.kind != w.kind || c.text != w.text || c.said(t.Context(), i+1) != w.said {
			t.Errorf("cell %d: %s %q %q, want %+v", i+1, c.kind, c.text, c.said(t.Context(), i+1), w)
		}
	}
	if len(row.cells) != cellsShown || row.more != 100-cellsShown || row.Running != 3 {
		t.Errorf("%d cells, %d more, %d run", len(row.cells), row.more, row.Running)
	}
	// More may run than there are slots, once a person took some away.
	if row := slotRow(t.Context(), fleet.PC{Slots: 1, Target: 1}, busy, now); len(row.cells) != 3 || row.more != 0 {
		t.Errorf("%d cells, %d more", len(row.cells), row.more)
	}
}
