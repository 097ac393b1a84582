package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/testwait"
)

// session is a connection that holds a transaction open between its steps. A
// step may wait for a lock of another session; then the others go on.
type session struct {
	e       *engine
	name    string
	conn    *pgx.Conn
	watcher *pgx.Conn
	running chan error // set while a step has not returned
}

// glance is how soon a test looks again at a session. Most statements take no longer,
// and there are many thousands of them.
const glance = 100 * time.Microsecond

// newSessions opens n sessions. Deadlocks are found fast: a test waits for none.
func (e *engine) newSessions(n int) []*session {
	watcher := e.connect()
	sessions := make([]*session, n)
	for i := range sessions {
		s := &session{e: e, name: fmt.Sprintf("session %d", i+1), conn: e.connect(), watcher: watcher}
		if _, err := s.conn.Exec(context.Background(), `set deadlock_timeout = '20ms'`); err != nil {
			e.Fatal(err)
		}
		sessions[i] = s
	}
	return sessions
}

// send starts a statement and returns when it has ended or waits for a lock.
func (s *session) send(sql string, args ...any) {
	s.e.Helper()
	done := make(chan error, 1)
	s.running = done
	go func() {
		_, err := s.conn.Exec(context.Background(), sql, args...)
		done <- err
	}()
	testwait.Every(s.e, glance, s.name+" ends or waits: "+sql, func() bool { return len(done) > 0 || s.blocked() })
}

// blocked reports whether the session waits for a lock of another one.
func (s *session) blocked() bool {
	var blocked bool
	err := s.watcher.QueryRow(context.Background(), `select cardinality(pg_blocking_pids($1)) > 0`, s.conn.PgConn().PID()).Scan(&blocked)
	return err == nil && blocked
}

// ready reports whether the last step has returned.
func (s *session) ready() bool { return s.running == nil || len(s.running) > 0 }

// result waits for the step under way and returns its error.
func (s *session) result() error {
	if s.running == nil {
		return nil
	}
	err := <-s.running
	s.running = nil
	return err
}

// overlapping lists the orders of n transactions of two steps (call, commit) in
// which all call before the first commits. The others are fewer transactions at
// a time, and what two of them do is covered by n - 1.
func overlapping(n int) [][]int {
	var orders [][]int
	for _, calls := range permutations(n) {
		for _, commits := range permutations(n) {
			orders = append(orders, slices.Concat(calls, commits))
		}
	}
	return orders
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, shorter := range permutations(n - 1) {
		for i := range n {
			out = append(out, slices.Insert(slices.Clone(shorter), i, n-1))
		}
	}
	return out
}

// play runs one operation per session, each as a transaction of two steps (the
// call, the commit), in the given order. A session whose call waits commits as
// soon as it can. It returns the error of each session.
func play(sessions []*session, order []int, ops []string) []error {
	errs := make([]error, len(ops))
	step := make([]int, len(ops))
	advance := func(i int) {
		s := sessions[i]
		switch step[i] {
		case 0:
			s.send("begin")
			if err := s.result(); err != nil {
				s.e.Fatal(err)
			}
			s.send(ops[i])
		case 1:
			errs[i] = s.result()
			if errs[i] != nil {
				s.send("rollback")
			} else {
				s.send("commit")
			}
			if err := s.result(); err != nil {
				s.e.Fatal(err)
			}
		}
		step[i]++
	}
	owed := []int{} // sessions whose commit came up while their call waited
	settle := func() {
		for i := 0; i < len(owed); {
			if sessions[owed[i]].ready() {
				advance(owed[i])
				owed = append(owed[:i], owed[i+1:]...)
				i = 0
			} else {
				i++
			}
		}
	}
	for _, i := range order {
		settle()
		if step[i] == 1 && !sessions[i].ready() {
			owed = append(owed, i)
			continue
		}
		advance(i)
	}
	testwait.Every(sessions[0].e, glance, "no session waits any more: "+strings.Join(ops, " | "), func() bool { settle(); return len(owed) == 0 })
	return errs
}
