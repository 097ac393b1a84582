package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirhq/weir"
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
	// gatherEach is how long a start, a note or a piece of a log waits for others, for each
	// further attempt that the agent holds, up to gatherMost: one call then reports many.
	// What an agent with a single attempt has to say goes at once.
	gatherEach, gatherMost = 100 * time.Millisecond, 2 * time.Second
)

// mail is what the reporter has to report. One goroutine reports it all, with one call, so
// that a note never arrives after the end of its attempt.
type mail struct {
	starts []*attempt
	notes  []node.Note
	logs   []*piece
	ends   []*ending
	// due is the uptime at which starts, notes and logs go, if no end takes them along
	// before.
	due time.Duration
}

// piece is a piece of a log, and its answer.
type piece struct {
	node.LogPiece
	answered chan answeredPiece
}

// answeredPiece is what became of a piece, and how long the call took.
type answeredPiece struct {
	err  error
	took time.Duration
}

// take removes and returns the mail if it is to be reported now; otherwise it returns how
// long it can wait. An end goes at once.
func (m *mail) take(now time.Duration, all bool) (out mail, rest time.Duration) {
	if !m.empty() && len(m.notes) < batchMost && len(m.ends) == 0 && !all {
		rest = max(m.due-now, 0)
	}
	if rest == 0 {
		out, *m = *m, mail{}
	}
	return out, rest
}

func (m *mail) empty() bool { return len(m.starts)+len(m.notes)+len(m.logs)+len(m.ends) == 0 }

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
	a.gather()
	a.mail.starts = append(a.mail.starts, at)
	a.mu.Unlock()
	signal(a.told)
}

// gather sets when the mail goes, before something is added to it that can wait. The caller
// holds the mutex.
func (a *Agent) gather() {
	wait := min(time.Duration(max(len(a.held)-1, 0))*gatherEach, gatherMost, a.config.Lease/10)
	if due := uptime.Now() + wait; a.mail.empty() || due < a.mail.due {
		a.mail.due = due
	}
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
	a.gather()
	a.mail.notes = newest(append(a.mail.notes, n))
	a.mu.Unlock()
	signal(a.told)
}

var errNotKept = errors.New("the server could not keep a piece of a log")

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
		m, done := a.nextMail(ctx)
		if done {
			return
		}
		heard := a.heard.Load()
		notes, ends := a.tellMail(ctx, m)
		if a.heard.Load() != heard {
			answered++
		}
		// While nothing is answered, the server is away, and the notes wait for it. Where
		// other calls are answered they are given up, because an event is not worth more.
		if answered >= notesTries || ctx.Err() != nil {
			notes = nil
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

// nextMail waits for mail that is due and takes it. It returns done if ctx has ended and
// there is none.
func (a *Agent) nextMail(ctx context.Context) (m mail, done bool) {
	for {
		over := ctx.Err() != nil
		a.mu.Lock()
		m, rest := a.mail.take(uptime.Now(), over)
		a.mu.Unlock()
		switch {
		case !m.empty():
			return m, false
		case over:
			return m, true
		case rest > 0:
			loop.Wait(ctx, rest, a.told)
		default:
			select {
			case <-a.told:
			case <-ctx.Done():
			}
		}
	}
}

// tellMail reports everything with one call, or with several if there is much, and returns
// what must be reported again. Starts are reported once, and not for attempts that have
// ended in the meantime, because the end implies the start.
func (a *Agent) tellMail(ctx context.Context, m mail) (notes []node.Note, left []*ending) {
	for len(m.notes) > batchMost {
		if err := a.call(ctx, mail{notes: m.notes[:batchMost]}, callMost); err != nil && !final(err) {
			a.answerLogs(m.logs, nil, err, 0)
			return m.notes, a.keep(m.ends) // a note must not arrive after the end of its attempt
		}
		m.notes = m.notes[batchMost:]
	}
	if len(m.ends) > batchMost {
		left, m.ends = m.ends[batchMost:], m.ends[:batchMost]
	}
	ended := map[*attempt]bool{}
	for _, e := range m.ends {
		ended[e.at] = true
	}
	m.starts = slices.DeleteFunc(m.starts, func(at *attempt) bool { return ended[at] })
	var renewing []*ending
	m.ends, renewing = a.beginTelling(m.ends)
	left = append(renewing, left...)
	if m.empty() {
		return nil, left
	}
	timeout := callMost
	if len(m.ends) > 0 {
		// Short enough that a lease which is not renewed in the meantime outlives the call.
		timeout = min(callMost, a.config.Lease/3)
	}
	if err := a.call(ctx, m, timeout); err != nil {
		if final(err) {
			m.notes = nil
		}
		return m.notes, append(a.keep(m.ends), left...)
	}
	return nil, left
}

// call makes the call that reports mail, and acts on its answer.
func (a *Agent) call(ctx context.Context, m mail, timeout time.Duration) error {
	told := node.Told{Notes: m.notes}
	lengths := map[time.Duration][]*attempt{}
	a.mu.Lock()
	for _, at := range m.starts {
		length := at.length()
		lengths[length] = append(lengths[length], at)
		told.Starts = append(told.Starts, node.Start{Lease: at.Holds(), Length: length})
	}
	a.mu.Unlock()
	for _, p := range m.logs {
		told.Logs = append(told.Logs, p.LogPiece)
	}
	for _, e := range m.ends {
		told.Ends = append(told.Ends, e.Outcome)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sent := uptime.Now()
	heard, err := a.transport.Report(ctx, told)
	a.answerLogs(m.logs, heard.Logs, err, uptime.Now()-sent)
	if err != nil {
		a.failed("report", err)
		return err
	}
	a.hear()
	for length, part := range lengths {
		a.extended(part, byLease(leasesOf(part), heard.Refused), sent, length)
	}
	leases := make([]node.Lease, len(m.ends))
	for i, e := range m.ends {
		leases[i] = e.Lease
	}
	answers := byLease(leases, heard.Refused)
	for _, e := range m.ends {
		a.count(e, answers[e.Lease])
		close(e.answered)
	}
	return nil
}

// answerLogs gives each piece of a log its answer.
func (a *Agent) answerLogs(logs []*piece, answers []string, err error, took time.Duration) {
	for i, p := range logs {
		answer := node.LogFailed
		if i < len(answers) {
			answer = answers[i]
		}
		said := answeredPiece{err: err, took: took}
		switch {
		case err != nil || answer == node.LogKept:
		case answer == node.LeaseLost:
			said.err = weir.ErrLeaseLost
		case answer == node.LogRefused:
			said.err = node.ErrNoBucket
		default:
			said.err = errNotKept
		}
		p.answered <- said // it has room for one
	}
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
