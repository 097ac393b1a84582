package workspace

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// Next is what happens to a workspace by itself, if nobody does anything.
type Next struct {
	// What is stops, archives, ends (it has run as long as it may) or retries.
	What string    `json:"what"`
	At   time.Time `json:"at"`
	// Because says what the time is counted from.
	Because string `json:"because"`
	// Says is all of that in words, such as "stops in 7m0s".
	Says string `json:"says"`
}

// Next says what happens next, and when. Nil: nothing does. unknown: what is there cannot
// be seen at the moment, so nothing is done.
func (w *Workspace) Next(now time.Time, unknown bool) *Next {
	var n *Next
	switch {
	case unknown || w.DeletedAt != nil:
		return nil
	case w.Operation != ladder.None:
		if w.OpRetry != nil && w.OpRetry.After(now) {
			n = &Next{What: "retries", At: *w.OpRetry, Because: fmt.Sprintf("%s failed: %s", w.Operation, w.ErrorSays)}
		}
	case w.Phase == ladder.Running && w.Desired == ladder.Running:
		n = w.stops()
	case w.Phase == ladder.Standby && w.Desired == ladder.Standby:
		n = &Next{What: "archives", At: w.PhaseAt.Add(time.Duration(w.ArchiveTTL)), Because: fmt.Sprintf("it stands by for %s", time.Duration(w.ArchiveTTL))}
	}
	if n != nil {
		n.Says = fmt.Sprintf("%s in %s", n.What, max(n.At.Sub(now), 0).Round(time.Second))
	}
	return n
}

// stops is when one that runs is stopped: for want of use, or because it ran long enough.
func (w *Workspace) stops() *Next {
	n := &Next{What: "stops", At: w.LastAccess.Add(time.Duration(w.StandbyTTL)), Because: fmt.Sprintf("nobody uses it for %s; last: %s", time.Duration(w.StandbyTTL), orNothing(w.LastUse))}
	if w.BusyUntil != nil && w.BusyUntil.After(n.At) {
		n.At, n.Because = *w.BusyUntil, "it has said that it is busy until then"
	}
	if end := w.PhaseAt.Add(time.Duration(w.MaxLife)); w.MaxLife > 0 && end.Before(n.At) {
		n = &Next{What: "ends", At: end, Because: fmt.Sprintf("none may run for longer than %s in one piece", time.Duration(w.MaxLife))}
	}
	return n
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// Why says why a workspace is as it is.
type Why struct {
	// Summary is one line.
	Summary string `json:"summary"`
	// Parts are what it consists of.
	Parts []Part `json:"parts,omitempty"`
	Next  *Next  `json:"next,omitempty"`
}

// Part is one reason.
type Part struct {
	// What is wanted, operation, error, unknown, provider, limit or one of the conditions.
	What  string     `json:"what"`
	Text  string     `json:"text"`
	Since *time.Time `json:"since,omitempty"`
}

// Why says why a workspace is as it is, and what happens next.
func (s *Store) Why(ctx context.Context, id weir.ID) (Why, error) {
	w, err := s.Workspace(ctx, id)
	if err != nil {
		return Why{}, err
	}
	p, err := s.Policy(ctx)
	if err != nil {
		return Why{}, err
	}
	return w.why(p, time.Now()), nil
}

func (w *Workspace) why(p Policy, now time.Time) Why {
	unknown := p.Unseen(w.Provider)
	y := Why{Next: w.Next(now, unknown)}
	y.add("wanted", &w.DesiredAt, "%s is wanted%s", w.Desired, by(w.DesiredBy))
	if unknown {
		y.add("unknown", p.UnknownAt, "what is there cannot be seen: %s. Nothing is done until it can, and what was seen before stands", p.Unknown)
	}
	if w.Operation != ladder.None {
		y.add("operation", w.OpStarted, "%s is under way%s", w.Operation, after(w.OpSays, ": "))
	}
	if w.Error != "" {
		y.add("error", nil, "%s%s", w.Error, after(w.ErrorSays, ": "))
	}
	c := w.Seen()
	for _, one := range []struct {
		name string
		ladder.Condition
	}{{"volume", c.Volume}, {"archive", c.Archive}, {"container", c.Container}, {"healthy", c.Healthy}} {
		if !one.Status && one.Message != "" && w.ObservedAt != nil {
			y.add(one.name, nil, "%s", one.Message)
		}
	}
	y.Summary = w.summary(unknown, p, now)
	if y.Next != nil {
		y.Summary += ". It " + y.Next.Says + ": " + y.Next.Because
	}
	return y
}

func (y *Why) add(what string, since *time.Time, format string, args ...any) {
	y.Parts = append(y.Parts, Part{What: what, Text: fmt.Sprintf(format, args...), Since: since})
}

// summary is what holds it where it is.
func (w *Workspace) summary(unknown bool, p Policy, now time.Time) string {
	switch {
	case w.Phase == ladder.Deleted:
		return "It is deleted; its archives go when nobody has needed them for a while"
	case unknown && w.ObservedAt == nil:
		return "Nobody could look at it yet: " + p.Unknown
	case unknown:
		return fmt.Sprintf("It was %s when it could last be seen; since %s it cannot: %s", w.Phase, p.UnknownAt.UTC().Format(time.RFC3339), p.Unknown)
	case w.Phase == ladder.Error:
		return fmt.Sprintf("It is in error, and a person has to see to it: %s%s. %s", w.Error, after(w.ErrorSays, ": "), w.remedy())
	case w.Operation != ladder.None && w.OpRetry != nil && w.OpRetry.After(now):
		return fmt.Sprintf("%s failed %d of 3 times: %s", w.Operation, w.Errors, w.ErrorSays)
	case w.Operation != ladder.None:
		return fmt.Sprintf("%s is under way since %s%s", w.Operation, w.OpStarted.UTC().Format(time.RFC3339), after(w.OpSays, ": "))
	case w.ObservedAt == nil:
		return fmt.Sprintf("Nobody has looked at it yet: a server that leads and has the provider %s will", w.Provider)
	case w.Phase != w.Desired:
		return fmt.Sprintf("It is %s and will be %s%s", w.Phase, w.Desired, by(w.DesiredBy))
	}
	return fmt.Sprintf("It is %s, as is wanted%s", w.Phase, by(w.DesiredBy))
}

// remedy is what a person can do about an error.
func (w *Workspace) remedy() string {
	recover := "weir workspace recover " + w.Name
	switch w.Error {
	case ladder.DataLost:
		if w.ArchiveKey != "" && !w.Seen().Archive.Status {
			return "Bring the archive back into the bucket and say " + recover + ", bring the volume back and say the same, take another archive with " + recover + " --archive KEY, or give up what is lost with " + recover + " --fresh"
		}
		return "Bring the volume back and say " + recover + ", take an archive with " + recover + " --archive KEY, or give up what is lost with " + recover + " --fresh"
	case ladder.ArchiveCorrupted:
		return "Mend the archive in the bucket and say " + recover + ", take another one with " + recover + " --archive KEY, or give it up with " + recover + " --fresh"
	case ladder.ImagePullFailed:
		return "Let the image be had, or choose another one with weir workspace set " + w.Name + " --image IMAGE, then say " + recover
	case ladder.ContainerWithoutVolume:
		return "See where its volume is, then say " + recover
	}
	return "See to it, then say " + recover
}

func by(who string) string { return after(who, " by ") }

// after is text with something before it; nothing, if there is no text.
func after(text, before string) string {
	if text == "" {
		return ""
	}
	return before + text
}
