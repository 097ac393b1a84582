package stream

import (
	"sync"

	"github.com/weirhq/weir/internal/problem"
)

// seats bounds how many streams there are.
type seats struct {
	most, each int

	mu    sync.Mutex
	all   int
	taken map[string]int
}

// take gives a seat, until leave is called.
func (s *seats) take(subject string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken[subject] >= s.each:
		return nil, problem.New(problem.Throttled, "close some first", "you have %d streams open, and may not have more", s.each)
	case s.all >= s.most:
		return nil, problem.New(problem.Unreachable, "try again later, or another server", "the server has %d streams open, and takes no more", s.most)
	}
	s.all++
	s.taken[subject]++
	return func() { s.leave(subject) }, nil
}

func (s *seats) leave(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.taken[subject]--; s.taken[subject] == 0 {
		delete(s.taken, subject)
	}
}

func (s *seats) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
