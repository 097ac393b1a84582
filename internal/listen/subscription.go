package listen

import (
	"slices"
	"sync"
)

// noteLimit bounds the notes that one subscriber accumulates. More is no longer a hint.
const noteLimit = 256

// Note is one notification.
type Note struct{ Channel, Payload string }

// Hint is what arrived since the last Take.
type Hint struct {
	// All means that the subscriber must look at everything, because listening just began
	// or there was more than is worth remembering. Notes are incomplete then.
	All bool
	// Notes are the notifications, each once.
	Notes []Note
}

// Subscription collects hints for one reader. Delivery never waits for the
// reader: hints are merged until it takes them.
type Subscription struct {
	listener *Listener
	channels []string
	wake     chan struct{}

	mu   sync.Mutex
	hint Hint
}

// C receives a value when there is something to Take.
func (s *Subscription) C() <-chan struct{} { return s.wake }

// Take returns what has been collected and starts over.
func (s *Subscription) Take() Hint {
	s.mu.Lock()
	defer s.mu.Unlock()
	hint := s.hint
	s.hint = Hint{}
	return hint
}

// Wake calls the reader although nothing was heard.
func (s *Subscription) Wake() { s.signal() }

// Close ends the subscription. C stays open and silent.
func (s *Subscription) Close() {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	delete(s.listener.subs, s)
}

func (s *Subscription) add(n Note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.hint.All || slices.Contains(s.hint.Notes, n):
	case len(s.hint.Notes) == noteLimit:
		s.hint = Hint{All: true}
	default:
		s.hint.Notes = append(s.hint.Notes, n)
	}
	s.signal()
}

func (s *Subscription) addAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hint = Hint{All: true}
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
