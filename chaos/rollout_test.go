//go:build unix

package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/rollout"
)

// TestRollouts lets two servers with eight claimers apply changes to real databases while
// random commands start, pause, resume, promote, cancel, retry, skip and abort. The same
// with 10,000 runs over 200 databases is TestLongRollouts (build tag chaos).
func TestRollouts(t *testing.T) {
	t.Parallel()
	c := newCampaign(t, rand.Uint64(), size{databases: 12, rollouts: 4, changes: 5})
	c.conclude()
}

// conclude runs the campaign and fails the test if anything is found.
func (c *campaign) conclude() {
	c.Helper()
	began := time.Now()
	c.storm()
	ended := c.settle()
	c.Logf("%d tasks in %s; commands %v; refused %v", c.runs(), time.Since(began).Round(time.Millisecond), c.commands, c.refusals)
	if !ended {
		c.Errorf("it did not end: %s", c.stuck())
	}
	if found := c.findings(); len(found) > 0 {
		c.Errorf("%s", Report(found))
	}
}

// storm gives random commands: one for every two tasks, or until two thirds of them have
// ended.
func (c *campaign) storm() {
	c.Helper()
	for n := 0; n < c.runs()/2 && c.ctx.Err() == nil; n++ {
		id := c.made[c.rng.IntN(len(c.made))]
		if n < len(c.made) {
			id = c.made[n]
			c.command("start", func() (rollout.Answer, error) { return c.store.Start(c.ctx, "ann", id) })
		}
		c.anything(id)
		if n%20 != 19 {
			pause(c.ctx, time.Duration(c.rng.IntN(20))*time.Millisecond)
			continue
		}
		ended := 0
		for status, n := range c.byStatus() {
			if terminalRun(status) {
				ended += n
			}
		}
		if ended*3 >= c.runs()*2 {
			return
		}
	}
}

// anything gives one random command to one rollout, allowed or not.
func (c *campaign) anything(id weir.ID) {
	c.Helper()
	list, err := tasksOf(c.ctx, c.store, id)
	if err != nil {
		c.Fatal(err)
	}
	task := list[c.rng.IntN(len(list))]
	if picked := slices.DeleteFunc(list, func(t rollout.Task) bool { return t.Status != rollout.Failed && t.Status != rollout.Running }); len(picked) > 0 && c.rng.IntN(4) > 0 {
		task = picked[c.rng.IntN(len(picked))]
	}
	switch n := c.rng.IntN(100); {
	case n < 20:
		c.command("pause", func() (rollout.Answer, error) { return c.store.Pause(c.ctx, "bob", id, "") })
	case n < 50:
		c.command("resume", func() (rollout.Answer, error) { return c.store.Resume(c.ctx, "bob", id) })
	case n < 60:
		c.command("promote", func() (rollout.Answer, error) { return c.store.Promote(c.ctx, "bob", id, "second") })
	case n < 80:
		c.command("retry", func() (rollout.Answer, error) { return c.store.Retry(c.ctx, "bob", task.ID) })
	case n < 90:
		c.command("cancel", func() (rollout.Answer, error) { return c.store.Cancel(c.ctx, "bob", task.ID, "chaos") })
	case n < 99 && task.Status == rollout.Failed:
		c.command("skip", func() (rollout.Answer, error) { return c.store.Skip(c.ctx, "bob", task.ID, "chaos") })
	case n == 99 && id == c.made[len(c.made)-1]:
		c.command("abort", func() (rollout.Answer, error) { return c.store.Abort(c.ctx, "bob", id, "chaos") })
	}
}

// settle lets everything end: paused rollouts are resumed, failed tasks are retried and
// finally skipped. The last rollout is aborted, if it was not yet. It gives up when
// nothing has changed for a long time.
func (c *campaign) settle() bool {
	c.Helper()
	const long = 30 * time.Second
	last := c.made[len(c.made)-1]
	var before map[string]int
	changed := time.Now()
	decided := map[weir.ID]bool{}
	c.command("abort", func() (rollout.Answer, error) { return c.store.Abort(c.ctx, "bob", last, "the end") })
	for {
		live := 0
		for _, t := range c.tasks() {
			switch {
			case t.Status == rollout.Failed && t.Attempt < 3 && t.Rollout != last:
				live++
				c.command("retry", func() (rollout.Answer, error) { return c.store.Retry(c.ctx, "bob", t.ID) })
			case t.Status == rollout.Canceled && !decided[t.ID]:
				// The tasks behind it wait for a decision.
				decided[t.ID] = true
				live++
				c.command("skip", func() (rollout.Answer, error) { return c.store.Skip(c.ctx, "bob", t.ID, "it was canceled") })
			case t.Status == rollout.Failed:
				live++
				c.command("skip", func() (rollout.Answer, error) { return c.store.Skip(c.ctx, "bob", t.ID, "it fails") })
			case !terminalRun(t.Status):
				live++
			}
		}
		if live == 0 {
			return true
		}
		for _, id := range c.made[:len(c.made)-1] {
			c.command("resume", func() (rollout.Answer, error) { return c.store.Resume(c.ctx, "bob", id) })
			c.command("promote", func() (rollout.Answer, error) { return c.store.Promote(c.ctx, "bob", id, "second") })
		}
		if now := c.byStatus(); !maps.Equal(now, before) {
			before, changed = now, time.Now()
		}
		if time.Since(changed) > long || !pause(c.ctx, 200*time.Millisecond) {
			return false
		}
	}
}

// stuck returns for a few tasks that have not ended why not.
func (c *campaign) stuck() string {
	c.Helper()
	var b strings.Builder
	fmt.Fprint(&b, c.byStatus())
	n := 0
	for _, t := range c.tasks() {
		if (!terminalRun(t.Status) || t.Status == rollout.Failed) && n < 10 {
			n++
			fmt.Fprintf(&b, "\n%s %s attempt %d: %s %s", t.Key, t.Status, t.Attempt, t.Cause, t.Error)
		}
	}
	return b.String()
}

func (c *campaign) byStatus() map[string]int {
	c.Helper()
	count := map[string]int{}
	for _, t := range c.tasks() {
		count[t.Status]++
	}
	return count
}

func terminalRun(status string) bool {
	return slices.Contains([]string{rollout.Done, rollout.Failed, rollout.Canceled, rollout.Skipped}, status)
}
