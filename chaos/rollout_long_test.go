//go:build chaos && unix

package chaos

import "testing"

// TestLongRollouts is [TestRollouts] at full size: 10,000 runs over 200 databases. It
// takes long:
//
//	go test -tags chaos -run LongRollouts -timeout 90m -v ./chaos
func TestLongRollouts(t *testing.T) {
	c := newCampaign(t, 1, size{databases: 200, rollouts: 10, changes: 5})
	c.conclude()
}
