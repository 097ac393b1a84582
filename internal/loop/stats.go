package loop

import (
	"cmp"
	"slices"
	"time"
)

// Stats says how a loop goes.
type Stats struct {
	Name  string
	Every time.Duration
	// Ticks and Errors count since the Runner was made.
	Ticks, Errors int64
	// Took is the sum of the time that ticks took.
	Took time.Duration
	// Running is when the tick began that runs now; zero: none does.
	Running time.Time
	// Last is when the last tick ended, LastTook how long it took.
	Last     time.Time
	LastTook time.Duration
	// Failing counts the errors since the last tick that went well.
	Failing int
	// Error is the last error, also when ticks go well again since.
	Error   string
	ErrorAt time.Time
}

// Stats is a snapshot, by name. Loops that no longer run are there as well.
func (r *Runner) Stats() []Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Stats, 0, len(r.stats))
	for _, s := range r.stats {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Stats) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// enter finds or makes the statistics of a loop.
func (r *Runner) enter(name string, every time.Duration) *Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.stats, func(s *Stats) bool { return s.Name == name })
	if i < 0 {
		r.stats = append(r.stats, &Stats{Name: name})
		i = len(r.stats) - 1
	}
	r.stats[i].Every, r.stats[i].Failing = every, 0
	return r.stats[i]
}

func (r *Runner) begin(s *Stats, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Running = now
}

// end notes how a tick went. A loop that fails is logged when its error
// changes, not every time.
func (r *Runner) end(s *Stats, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := s.Running.Add(took)
	s.Ticks++
	s.Took += took
	s.Running, s.Last, s.LastTook = time.Time{}, now, took
	if err == nil {
		if s.Failing > 0 && r.Log != nil {
			r.Log.Info("loop works again", "loop", s.Name, "failed", s.Failing)
		}
		s.Failing = 0
		return
	}
	if r.Log != nil && (s.Failing == 0 || s.Error != err.Error()) {
		r.Log.Warn("loop failed; it tries again", "loop", s.Name, "error", err)
	}
	s.Errors++
	s.Failing++
	s.Error, s.ErrorAt = err.Error(), now
}
