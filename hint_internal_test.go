package weir

import (
	"context"
	"sync"
	"testing"
	"time"
)

// sent records what a hinter sends.
type sent struct {
	mu       sync.Mutex
	payloads []string
}

func (s *sent) send(_ context.Context, payload string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.payloads = append(s.payloads, payload)
	return nil
}

// Whatever is said, at most one notification goes out per interval, and the
// last word is always sent.
func TestHintsAreMerged(t *testing.T) {
	var s sent
	h := newHinter(s.send)
	begin := time.Now()
	for time.Since(begin) < 4*hintEvery {
		h.say("a")
	}
	h.say("last")
	h.close()
	h.say("too late")
	if n := len(s.payloads); n < 1 || n > int(time.Since(begin)/hintEvery)+2 {
		t.Errorf("%d notifications in %s", n, time.Since(begin))
	}
	if last := s.payloads[len(s.payloads)-1]; last != "last" && last != "a,last" && last != "last,a" {
		t.Errorf("the last word was %q", last)
	}
}

func TestHintToAll(t *testing.T) {
	var s sent
	h := newHinter(s.send)
	h.say("a")
	h.say()
	h.close()
	if last := s.payloads[len(s.payloads)-1]; last != "" {
		t.Errorf("the last word was %q", last)
	}
}
