//go:build unix

package chaos

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/dockertest"
)

// TestR3R4R6_ContainersOnFailingMachines is the same test for containers: the events of
// the container engine are the ledger.
func TestR3R4R6_ContainersOnFailingMachines(t *testing.T) {
	t.Parallel()
	host := dockertest.Daemon(t)
	image := dockertest.Image(t, host)
	watch := dockertest.NewWatch(t, host)
	s := newStorm(t, newRun(t))
	s.lease = 2 * stormLease // killing a container takes longer
	s.serve()
	s.conductor("server")
	onDocker := func(o *Orders) { o.Services, o.Slots, o.Machine.Docker = []string{"docker"}, 2, host }
	sql, https, spare := s.machine("sql", "sql", onDocker), s.machine("https", "https", onDocker), s.machine("spare", "sql", onDocker)
	const steps = 18
	list := make([]map[string]any, steps)
	for i := range list {
		list[i] = map[string]any{
			"key": fmt.Sprintf("c%02d", i), "run": map[string]any{"image": image, "argv": []string{"work", "3s"}},
			"retry": map[string]any{"max_attempts": 20, "backoff": "100ms"},
		}
		if i >= 6 {
			list[i]["needs"] = []string{fmt.Sprintf("c%02d", i-6)}
		}
	}
	s.put(map[string]any{"name": "containers", "steps": list})
	s.begin("containers")
	s.strike(blowNamed("kill -9, back at once"), sql, https)
	s.strike(blowNamed("SIGSTOP for more than a lease"), sql, https)
	s.strike(blowNamed("kill -9, back after its lease"), sql, https)
	s.heal()
	found := append(s.ended(steps), s.remains(sql, https, spare)...)
	found = append(found, s.containers(watch)...)
	if len(found) > 0 {
		t.Error(Report(found))
	}
	t.Logf("%d attempts were adopted", sql.adopted()+https.adopted())
}

// containers judges the events of the container engine.
func (s *storm) containers(watch *dockertest.Watch) []Finding {
	s.Helper()
	var found []Finding
	var left []string
	s.within(30*time.Second, func() bool {
		var err error
		if left, err = watch.Containers(s.ctx); err != nil {
			s.Fatal(err)
		}
		return len(left) == 0
	})
	if len(left) > 0 {
		found = append(found, Finding{ruleRemains, "", fmt.Sprintf("containers %v", left)})
	}
	events, err := watch.Events()
	if err != nil {
		s.Fatal(err)
	}
	var entries []Entry
	for _, e := range events {
		attempt, err := strconv.Atoi(e.Labels["weir.attempt"])
		if err != nil {
			s.Fatal(err)
		}
		what := "begin"
		switch {
		case e.What == "die" && e.Labels["exitCode"] == "0":
			what = "end"
		case e.What == "die":
			what = "fail"
		}
		// Processes have their own numbers inside a container.
		entries = append(entries, Entry{what, e.Labels["weir.task"], attempt, e.Labels["weir.fence"], 0})
	}
	done := s.done()
	s.Logf("%d steps took %d begins and ends of containers", len(done), len(entries))
	return append(found, JudgeLedger(entries, done)...)
}
