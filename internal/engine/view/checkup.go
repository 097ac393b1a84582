package view

import (
	"context"
	"sync"
	"time"
)

// checkupKept is how long a report of the doctor is shown again, and checkupMost how long one
// may take.
const (
	checkupKept = 30 * time.Second
	checkupMost = 10 * time.Minute
)

// Report is what the doctor found, and when.
type Report struct {
	Findings []Finding
	At       time.Time
	Age      time.Duration
}

// checkup shares one report between all who ask: reading every invariant takes seconds of the
// database, and who may look may ask as often as they like. One is made at a time.
type checkup struct {
	mu   sync.Mutex
	last Report
	// under is the report that is being made; nil: none is.
	under *pending
}

type pending struct {
	done   chan struct{} // closed once report and err are there
	report Report
	err    error
}

// Checkup is the report of the doctor, at most checkupKept old. Whoever asks while one is being
// made waits for that one. It is made to its end, also if who asked first goes away.
func (s *Store) Checkup(ctx context.Context, deep bool) (Report, error) {
	c := s.shallow
	if deep {
		c = s.deep
	}
	c.mu.Lock()
	if age := time.Since(c.last.At); c.under == nil && age < checkupKept {
		report := c.last
		c.mu.Unlock()
		report.Age = age
		return report, nil
	}
	p := c.under
	if p == nil {
		p = &pending{done: make(chan struct{})}
		c.under = p
		go s.check(context.WithoutCancel(ctx), c, p, deep)
	}
	c.mu.Unlock()
	select {
	case <-p.done:
		report := p.report
		report.Age = time.Since(report.At)
		return report, p.err
	case <-ctx.Done():
		return Report{}, ctx.Err()
	}
}

// check makes a report. One that failed is not kept.
func (s *Store) check(ctx context.Context, c *checkup, p *pending, deep bool) {
	ctx, cancel := context.WithTimeout(ctx, checkupMost)
	defer cancel()
	at := time.Now()
	findings, err := s.Doctor(ctx, deep)
	c.mu.Lock()
	defer c.mu.Unlock()
	p.report, p.err, c.under = Report{Findings: findings, At: at}, err, nil
	if err == nil {
		c.last = p.report
	}
	close(p.done)
}
