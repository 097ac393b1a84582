package node

import (
	"crypto/rand"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir"
)

// Work on devices can be claimed even if transactions are REPEATABLE READ by default,
// because the claim sets the isolation that it needs.
func TestDevicesAreClaimedInAnyIsolation(t *testing.T) {
	r := newRig(t, nil)
	config := r.db.Pool.Config()
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	r.ok(err)
	t.Cleanup(pool.Close)
	d := NewDesk(pool, "pc1", Options{})
	r.ok(d.Register(t.Context(), Info{Name: "pc1", Capacity: map[string]int{Fleet: 2}}))
	_, err = d.Devices(t.Context(), DeviceReport{Devices: []Device{{Serial: "R01"}, {Serial: "R02"}}, Slots: 2})
	r.ok(err)
	_, err = r.db.Pool.Exec(t.Context(), `select weir.fleet_submit('warmup', '{"run": {"argv": ["warm"]}, "target": {"all": true}}')`)
	r.ok(err)
	var id weir.ID
	_, _ = rand.Read(id[:]) // never fails
	got, err := d.Claim(t.Context(), ClaimRequest{ID: id.String(), Services: []string{Fleet}, Slots: []int{2}, N: 2})
	r.ok(err)
	if len(got.Tasks) != 2 || got.Tasks[0].Device == nil {
		t.Errorf("claimed %+v", got.Tasks)
	}
}
