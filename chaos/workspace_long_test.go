//go:build chaos && unix

package chaos

import (
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir/internal/blob/blobtest"
)

// TestLongWorkspaces is [TestWorkspaces] at full size: 1,000 runs, of which the last 100
// use a real S3 server. It takes long:
//
//	go test -tags chaos -run LongWorkspaces -timeout 60m -v ./chaos
func TestLongWorkspaces(t *testing.T) {
	seed := 1 + rand.Uint64N(1_000_000)
	playWorkspaces(t, newHouse(t, nil), seed, 900)
	playWorkspaces(t, newHouse(t, blobtest.Open(t)), seed+900, 100)
}

// TestLongWorkspacesServerKilled is [TestWorkspacesServerKilled] for longer.
func TestLongWorkspacesServerKilled(t *testing.T) {
	killServers(t, 1+rand.Uint64N(1_000_000), 60)
}

// TestLongWorkspacesBrokenBuild is [TestWorkspacesBrokenBuild] for all of them.
func TestLongWorkspacesBrokenBuild(t *testing.T) {
	breakHouses(t, len(brokenHouses))
}
