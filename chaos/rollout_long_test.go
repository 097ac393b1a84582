//go:build chaos && unix

package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLongRollouts is [TestRollouts] at full size: 10,000 runs over 200 databases. It
// takes long:
//
//	go test -tags chaos -run LongRollouts -timeout 90m -v ./chaos
func TestLongRollouts(t *testing.T) {
	c := newCampaign(t, 1, size{databases: 200, rollouts: 10, changes: 5})
	c.conclude()
}

// TestLongRolloutsBrokenBuild tests the checker of [TestRollouts]: it detects each broken
// build.
func TestLongRolloutsBrokenBuild(t *testing.T) {
	t.Parallel()
	for _, b := range brokenRollouts {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, 1, size{databases: 6, rollouts: 3, changes: 5}, b.edit)
			began := time.Now()
			c.storm()
			c.settle()
			found := c.findings()
			if !slices.Contains(rules(found), b.rule) {
				t.Fatalf("nobody noticed; found were %v", rules(found))
			}
			t.Logf("found in %s: %s", time.Since(began).Round(time.Millisecond), strings.Join(rules(found), "; "))
		})
	}
}
