package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir/internal/leasing"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/pgtext"
	"github.com/weirhq/weir/internal/uptime"
)

const (
	// mailMost is how many notes may wait to be reported. Further notes replace the
	// oldest.
	mailMost = 10_000
	// batchMost is how many notes or ends one call reports.
	batchMost = 500
	// callMost is the timeout of one call.
	callMost = 10 * time.Second
	// notesTries is how often notes may fail while other calls are answered.
	notesTries = 5
	// progressEvery is the shortest time between two reports of progress.
	progressEvery = time.Second
)

// mail is what the reporter has to report. One goroutine reports it all, in this order,
// so that a note never arrives after the end of its attempt.
type mail struct {
	starts []*attempt
	notes  []node.Note
	ends   []*ending
}

// ending is the end of an attempt that must be reported.
type ending struct {
	node.Outcome
	at *attempt
	// answered is closed when the report was answered, or when reporting has become
	// useless.
	answered chan struct{}
	saved    bool
}

// announce reports that work has started.
func (a *Agent) announce(at *attempt) {
	a.mu.Lock()
	a.mail.starts = append(a.mail.starts, at)
	a.mu.Unlock()
	signal(a.told)
}

// note reports an event of the work.
func (at *attempt) note(level, message string) {
	at.tell(node.Note{Lease: at.Holds(), Type: "note", Level: level, Message: message})
}

// progress reports how far the work is. Of many reports in a second the last one counts,
// and of those within a percent the first.
func (at *attempt) progress(percent float64) {
	data, err := json.Marshal(map[string]float64{"percent": percent})
	if err != nil {
		return // a number always becomes JSON
	}
	at.ship.progress(percent, node.Note{Lease: at.Holds(), Type: "progress", Data: data})
}

func (at *attempt) tell(n node.Note) {
	a := at.agent
	n.Message = pgtext.Cut(pgtext.Text(n.Message), messageMost)
	a.mu.Lock()
	a.mail.notes = newest(append(a.mail.notes, n))
	a.mu.Unlock()
	signal(a.told)
}

// newest returns the notes that there is room for.
func newest(notes []node.Note) []node.Note { return notes[max(0, len(notes)-mailMost):] }

// report reports how the attempt ended, and returns when the report was answered or the
// lease is gone.
func (at *attempt) report(e evidence) {
	a := at.agent
	if cause := at.why(); errors.Is(cause, errLost) {
		e.cause = cause
	}
	o := judge(e)
	if o.Verdict == "" {
		a.stats.lost.Add(1)
		a.log.Warn("a lease was lost; its work is stopped", "task", at.Task, "attempt", at.Attempt)
		return
	}
	o.Lease, o.Quiet = at.Holds(), at.Device != nil
	o.Error = pgtext.Cut(pgtext.Text(at.mask.String(o.Error)), 8<<10)
	if o.Result != nil {
		o.Result = at.cleanResult(o.Result)
	}
	end := &ending{Outcome: o, at: at, answered: make(chan struct{})}
	a.mu.Lock()
	for at.renewing {
		a.settled.Wait()
	}
	at.ended = true
	a.mail.ends = append(a.mail.ends, end)
	a.mu.Unlock()
	signal(a.told)
	<-end.answered
}

// cleanResult removes from a result what may not leave the machine.
func (at *attempt) cleanResult(result json.RawMessage) json.RawMessage {
	clean := at.mask.Bytes(pgtext.JSON(result))
	if at.mask != nil && bytes.IndexByte(clean, '\\') >= 0 {
		// A secret may be written with escapes that the database decodes.
		if plain, err := unescaped(clean); err == nil {
			clean = at.mask.Bytes(plain)
		}
	}
	if json.Valid(clean) {
		return clean
	}
	text, err := json.Marshal("***") // the secret was the whole result
	if err != nil {
		return nil
	}
	return text
}

// unescaped writes JSON with only the necessary escapes.
func unescaped(text []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// reportLoop reports until ctx ends and nothing is left to report.
func (a *Agent) reportLoop(ctx context.Context) {
	for failures, answered := 0, 0; ; {
		heard := a.heard.Load()
		a.mu.Lock()
		m := a.mail
		a.mail = mail{}
		a.mu.Unlock()
		if len(m.starts)+len(m.notes)+len(m.ends) == 0 {
			select {
			case <-a.told:
				continue
			case <-ctx.Done():
				return
			}
		}
		a.tellStarts(ctx, m)
		notes := a.tellNotes(ctx, m.notes)
		if a.heard.Load() != heard {
			answered++
		}
		// While nothing is answered, the server is away, and the notes wait for it. Where
		// other calls are answered they are given up, because an event is not worth more.
		if answered >= notesTries || ctx.Err() != nil {
			notes = nil
		}
		var ends []*ending
		if len(notes) > 0 {
			ends = a.keep(m.ends) // a note must not arrive after the end of its attempt
		} else {
			ends = a.tellEnds(ctx, m.ends)
		}
		if len(notes)+len(ends) == 0 {
			failures, answered = 0, 0
			continue
		}
		a.mu.Lock()
		a.mail.ends = append(ends, a.mail.ends...)
		a.mail.notes = newest(append(notes, a.mail.notes...))
		a.mu.Unlock()
		loop.Wait(ctx, min(backoff(failures), a.config.Lease/20), nil)
		failures++
	}
}

// tellStarts reports starts once. It leaves out attempts that have ended in the meantime,
// because the end implies the start.
func (a *Agent) tellStarts(ctx context.Context, m mail) {
	ended := map[*attempt]bool{}
	for _, e := range m.ends {
		ended[e.at] = true
	}
	starts := slices.DeleteFunc(m.starts, func(at *attempt) bool { return ended[at] })
	for length, part := range a.byLength(starts) {
		leases := leasesOf(part)
		call, cancel := context.WithTimeout(ctx, callMost)
		sent := uptime.Now()
		refusals, err := a.transport.Start(call, leases, length)
		cancel()
		if err != nil {
			a.failed("start", err)
			continue
		}
		a.hear()
		a.extended(part, byLease(leases, refusals), sent, length)
	}
}

// tellNotes reports events, and returns those that must be reported again.
func (a *Agent) tellNotes(ctx context.Context, notes []node.Note) (left []node.Note) {
	for len(notes) > 0 {
		batch := notes[:min(len(notes), batchMost)]
		call, cancel := context.WithTimeout(ctx, callMost)
		_, err := a.transport.Record(call, batch)
		cancel()
		if err != nil && !final(err) {
			a.failed("record", err)
			return notes
		}
		if err == nil {
			a.hear()
		}
		notes = notes[len(batch):]
	}
	return nil
}

// tellEnds reports how attempts ended and returns those that must be reported again.
func (a *Agent) tellEnds(ctx context.Context, ends []*ending) (left []*ending) {
	if len(ends) > batchMost {
		left, ends = ends[batchMost:], ends[:batchMost]
	}
	var outcomes []node.Outcome
	ends, renewing := a.beginTelling(ends)
	left = append(renewing, left...)
	if len(ends) == 0 {
		return left
	}
	for _, e := range ends {
		outcomes = append(outcomes, e.Outcome)
	}
	// The timeout is short enough that a lease which is not renewed in the meantime
	// outlives the call.
	call, cancel := context.WithTimeout(ctx, min(callMost, a.config.Lease/3))
	defer cancel()
	refusals, err := a.transport.End(call, outcomes)
	if err != nil {
		a.failed("end", err)
		return append(a.keep(ends), left...)
	}
	a.hear()
	leases := make([]node.Lease, len(ends))
	for i, e := range ends {
		leases[i] = e.Lease
	}
	answers := byLease(leases, refusals)
	for _, e := range ends {
		a.count(e, answers[e.Lease])
		close(e.answered)
	}
	return left
}

// beginTelling keeps renewals away from ends that are reported now. Ends that are being
// renewed are reported after the answer.
func (a *Agent) beginTelling(ends []*ending) (now, renewing []*ending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range ends {
		if e.at.renewing {
			renewing = append(renewing, e)
			continue
		}
		e.at.telling = true
		now = append(now, e)
	}
	return now, renewing
}

// keep retains ends that could not be reported, and has their leases renewed, because the
// work is done and should not be done again. An end whose lease may be over is still
// reported, because the token decides, until [leasing.Untold] lengths of the lease have
// passed or the agent leaves. The ends are also kept on disk, for a later process of the
// agent.
func (a *Agent) keep(ends []*ending) (left []*ending) {
	if len(ends) > 0 {
		defer signal(a.keeper.Look)
	}
	for _, e := range ends {
		now := uptime.Now()
		a.mu.Lock()
		if e.at.untold == 0 {
			e.at.untold = now
		}
		e.at.telling = false
		over := now > e.at.safe && (now-e.at.untold >= leasing.Untold*a.config.Lease || closed(a.leave))
		a.mu.Unlock()
		if over {
			a.stats.lost.Add(1)
			a.log.Error("the end of an attempt could not be told before its lease ran out", "task", e.Task, "attempt", e.Attempt, "verdict", e.Verdict)
			close(e.answered)
			continue
		}
		if !e.saved {
			e.saved = true
			if err := e.at.dir.save(outcomeFile, e.Outcome); err != nil {
				a.log.Warn("an end that could not be told is kept in memory only", "task", e.Task, "error", err)
			}
		}
		if closed(a.detach) { // the next process of the agent reports it
			e.at.kept = true
			a.left.Add(1)
			close(e.answered)
			continue
		}
		left = append(left, e)
	}
	return left
}

func (a *Agent) count(e *ending, answer string) {
	if answer == node.LeaseLost || answer == node.Unknown {
		a.stats.lost.Add(1)
		a.log.Warn("the end of an attempt was refused", "task", e.Task, "attempt", e.Attempt, "verdict", e.Verdict, "answer", answer)
		return
	}
	switch e.Verdict {
	case node.Done:
		a.stats.done.Add(1)
	case node.Returned:
		a.stats.returned.Add(1)
	case node.Canceled:
		a.stats.canceled.Add(1)
	default:
		a.stats.failed.Add(1)
	}
	a.log.Debug("an attempt ended", "task", e.Task, "attempt", e.Attempt, "verdict", e.Verdict, "error", fmt.Sprintf("%.200s", e.Error))
}
