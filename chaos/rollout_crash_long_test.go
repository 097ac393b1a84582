//go:build chaos && unix

package chaos

import (
	"testing"

	changes "github.com/weirhq/weir/internal/rollout/script"
)

// TestLongRolloutServerKilled is [TestRolloutServerKilled] at every point:
//
//	go test -tags chaos -run LongRolloutServerKilled -v ./chaos
func TestLongRolloutServerKilled(t *testing.T) {
	t.Run("postgres", func(t *testing.T) { runCrashes(t, changes.Postgres, crashSetup, crashes) })
	t.Run("mariadb", func(t *testing.T) { runCrashes(t, changes.MySQL, mariaSetup, mariaCrashes) })
}

// TestLongRolloutServerPaused is [TestRolloutServerPaused] on MariaDB.
func TestLongRolloutServerPaused(t *testing.T) {
	t.Run("in_the_change", func(t *testing.T) {
		t.Parallel()
		pausedInside(newSite(t, changes.MySQL, mariaSetup), "lock tables weir_history read")
	})
	t.Run("before_it_is_connected", func(t *testing.T) {
		t.Parallel()
		pausedOutside(newSite(t, changes.MySQL, mariaSetup))
	})
}

// TestLongRolloutBehindALongTransaction is [TestRolloutBehindALongTransaction] on
// MariaDB.
func TestLongRolloutBehindALongTransaction(t *testing.T) {
	behindALongTransaction(newSite(t, changes.MySQL, mariaSetup), "set session lock_wait_timeout = 30")
}
