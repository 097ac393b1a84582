package door

import (
	"sync"

	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/problem"
)

// Seats limits how many long requests are open (streams, claims that wait, uploads),
// because each costs a connection and memory for as long as its client likes.
type Seats struct {
	most, each int

	mu    sync.Mutex
	all   int
	taken map[string]int
}

// NewSeats returns a limit of most requests in all, and of each for one user, token or
// node.
func NewSeats(most, each int) *Seats {
	return &Seats{most: most, each: each, taken: map[string]int{}}
}

// Take takes a seat, which is free again when leave is called.
func (s *Seats) Take(by auth.Subject) (leave func(), err error) {
	subject := by.Kind + " " + by.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken[subject] >= s.each:
		return nil, problem.New(problem.Throttled, "close some first", "you have %d long requests open, and may not have more", s.each)
	case s.all >= s.most:
		return nil, problem.New(problem.Unreachable, "try again later, or another server", "the server has %d long requests open, and takes no more", s.most)
	}
	s.all++
	s.taken[subject]++
	return func() { s.leave(subject) }, nil
}

func (s *Seats) leave(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.taken[subject]--; s.taken[subject] == 0 {
		delete(s.taken, subject)
	}
}

// Taken returns the number of seats in use.
func (s *Seats) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
