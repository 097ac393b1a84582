package target

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/rollout/script"
)

// lock takes the target for this run (rule 1). Between two tries the session is
// idle and in no transaction, so it keeps nobody waiting, least of all the
// CREATE INDEX CONCURRENTLY of the run it waits for.
func (a *attempt) lock(ctx context.Context) error {
	shared := a.run.Change.Kind == script.Data
	deadline := time.Now().Add(a.o.LockWait)
	holder := "another run"
	for n := 1; ; n++ {
		got, err := a.s.tryLock(a.calm, shared)
		if err != nil {
			return read(a.e, "take the lock of the target", err)
		}
		if got {
			return nil
		}
		list, err := a.s.holders(a.calm)
		if err != nil {
			return read(a.e, "see who holds the target", err)
		}
		if len(list) > 0 {
			holder = describeAll(list)
			a.tell.waiting(ctx, "waits for the target, which is held by "+holder)
		}
		for _, h := range list {
			if other, ok := attemptOf(h.Application, a.run.Task); ok && other > a.run.Attempt {
				return a.fenced(other)
			}
		}
		// An older attempt can have come back since we looked.
		if err := a.evict(ctx); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return &Failure{
				Code: CodeBusy,
				What: fmt.Sprintf("the target was not free within %s: it is held by %s", a.o.LockWait, holder),
				Next: "Nothing was changed. Retry when the other run has ended.",
			}
		}
		if !loop.Wait(ctx, poll(n), nil) {
			return a.canceled(ctx)
		}
	}
}

// describe names a session the way a person looks for it: "pid 4711 (psql, idle
// in transaction for 3m)".
func describe(id int64, application, user, state string, since time.Time) string {
	about := []string{}
	switch {
	case application != "":
		about = append(about, application)
	case user != "":
		about = append(about, "user "+user)
	}
	if state != "" {
		if !since.IsZero() {
			if d := time.Since(since).Round(time.Minute); d >= time.Minute {
				state += " for " + strings.TrimSuffix(d.String(), "0s")
			}
		}
		about = append(about, state)
	}
	if len(about) == 0 {
		return fmt.Sprintf("pid %d", id)
	}
	return fmt.Sprintf("pid %d (%s)", id, strings.Join(about, ", "))
}

func (b Blocker) String() string { return describe(b.ID, b.Application, b.User, b.State, b.Since) }

func describeAll(list []Session) string {
	names := make([]string, len(list))
	for i, s := range list {
		// Its statement changes all the time, and that is no news.
		names[i] = describe(s.ID, s.Application, s.User, "", time.Time{})
	}
	return strings.Join(names, ", ")
}
