package workspace

import (
	"cmp"
	"context"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/reason"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// args are the arguments of a reason. Text that is empty and a time of none are left out.
type args map[string]any

// because is a reason. Its sentences stand in package reason.
func because(code string, with args) reason.Coded {
	out := map[string]any{}
	for name, value := range with {
		switch v := value.(type) {
		case string:
			if v != "" {
				out[name] = v
			}
		case time.Duration:
			if v > 0 {
				out[name] = v.Seconds()
			}
		case time.Time:
			out[name] = v.UTC().Format(time.RFC3339)
		case reason.Coded:
			out[name] = v.Nested()
		default:
			out[name] = value
		}
	}
	return reason.Coded{Code: code, Args: out}
}

func english(r reason.Coded) string { return r.In(reason.Default, "") }

// Next is what happens to a workspace by itself, if nobody does anything.
type Next struct {
	// What is stops, archives, ends (it has run as long as it may) or retries.
	What string    `json:"what"`
	At   time.Time `json:"at"`
	// Because says what the time is counted from.
	Because string `json:"because"`
	// Says is all of that in words, such as "stops in 7m".
	Says string `json:"says"`
	// Cause is Because for programs.
	Cause reason.Coded `json:"cause"`
}

func (n *Next) coded(now time.Time) reason.Coded {
	return because("workspace_"+n.What, args{"in": max(n.At.Sub(now), 0).Round(time.Second)})
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
			n = &Next{What: "retries", At: *w.OpRetry, Cause: because("operation_failed", args{"operation": string(w.Operation), "says": w.ErrorSays})}
		}
	case w.Phase == ladder.Running && w.Desired == ladder.Running:
		n = w.stops()
	case w.Phase == ladder.Standby && w.Desired == ladder.Standby:
		n = &Next{What: "archives", At: w.PhaseAt.Add(time.Duration(w.ArchiveTTL)), Cause: because("workspace_idle", args{"for": time.Duration(w.ArchiveTTL)})}
	}
	if n != nil {
		n.Says, n.Because = english(n.coded(now)), english(n.Cause)
	}
	return n
}

// stops is when one that runs is stopped: for want of use, or because it ran long enough.
func (w *Workspace) stops() *Next {
	n := &Next{What: "stops", At: w.LastAccess.Add(time.Duration(w.StandbyTTL)), Cause: because("workspace_unused", args{"for": time.Duration(w.StandbyTTL), "use": cmp.Or(w.LastUse, "nothing")})}
	if w.BusyUntil != nil && w.BusyUntil.After(n.At) {
		n.At, n.Cause = *w.BusyUntil, because("workspace_busy", nil)
	}
	if end := w.PhaseAt.Add(time.Duration(w.MaxLife)); w.MaxLife > 0 && end.Before(n.At) {
		n = &Next{What: "ends", At: end, Cause: because("workspace_limit", args{"for": time.Duration(w.MaxLife)})}
	}
	return n
}

// Why says why a workspace is as it is.
type Why struct {
	// Summary is one line.
	Summary string `json:"summary"`
	reason.Coded
	// Parts are what it consists of.
	Parts []Part `json:"parts,omitempty"`
	Next  *Next  `json:"next,omitempty"`
}

// Part is one reason.
type Part struct {
	// What is wanted, operation, error, unknown, provider, limit or one of the conditions.
	What string `json:"what"`
	Text string `json:"text"`
	reason.Coded
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
	y.add("wanted", &w.DesiredAt, because("workspace_wanted", args{"desired": string(w.Desired), "by": w.DesiredBy}))
	if unknown {
		y.add("unknown", p.UnknownAt, because("workspace_unseen", args{"trouble": p.Unknown}))
	}
	if w.Operation != ladder.None {
		y.add("operation", w.OpStarted, because("operation_runs", args{"operation": string(w.Operation), "says": w.OpSays}))
	}
	if w.Error != "" {
		y.add("error", nil, because("workspace_fault", args{"error": string(w.Error), "says": w.ErrorSays}))
	}
	c := w.Seen()
	for _, one := range []struct {
		name string
		ladder.Condition
	}{{"volume", c.Volume}, {"archive", c.Archive}, {"container", c.Container}, {"healthy", c.Healthy}} {
		if !one.Status && one.Message != "" && w.ObservedAt != nil {
			y.add(one.name, nil, because("workspace_seen", args{"says": one.Message}))
		}
	}
	y.Coded = w.summary(unknown, p, now)
	if y.Next != nil {
		y.Coded = because("workspace_then", args{"state": y.Coded, "next": y.Next.coded(now), "because": y.Next.Cause})
	}
	y.Summary = english(y.Coded)
	return y
}

func (y *Why) add(what string, since *time.Time, r reason.Coded) {
	y.Parts = append(y.Parts, Part{What: what, Text: english(r), Coded: r, Since: since})
}

// summary is what holds it where it is.
func (w *Workspace) summary(unknown bool, p Policy, now time.Time) reason.Coded {
	switch {
	case w.Phase == ladder.Deleted:
		return because("workspace_deleted", nil)
	case unknown && w.ObservedAt == nil:
		return because("workspace_never_seen", args{"trouble": p.Unknown})
	case unknown:
		return because("workspace_out_of_sight", args{"phase": string(w.Phase), "since": *p.UnknownAt, "trouble": p.Unknown})
	case w.Phase == ladder.Error:
		return because("workspace_error", args{"error": string(w.Error), "says": w.ErrorSays, "remedy": w.remedy()})
	case w.Operation != ladder.None && w.OpRetry != nil && w.OpRetry.After(now):
		return because("operation_tried", args{"operation": string(w.Operation), "tries": float64(w.Errors), "says": w.ErrorSays})
	case w.Operation != ladder.None:
		return because("operation_since", args{"operation": string(w.Operation), "since": *w.OpStarted, "says": w.OpSays})
	case w.ObservedAt == nil:
		return because("workspace_unobserved", args{"provider": w.Provider})
	case w.Phase != w.Desired:
		return because("workspace_becomes", args{"phase": string(w.Phase), "desired": string(w.Desired), "by": w.DesiredBy})
	}
	return because("workspace_is", args{"phase": string(w.Phase), "by": w.DesiredBy})
}

// remedy is what a person can do about an error.
func (w *Workspace) remedy() reason.Coded {
	recover := "weir workspace recover " + w.Name
	commands := args{"recover": recover, "take": recover + " --archive KEY", "fresh": recover + " --fresh"}
	switch w.Error {
	case ladder.DataLost:
		if w.ArchiveKey != "" && !w.Seen().Archive.Status {
			return because("remedy_archive_lost", commands)
		}
		return because("remedy_data_lost", commands)
	case ladder.ArchiveCorrupted:
		return because("remedy_archive_corrupted", commands)
	case ladder.ImagePullFailed:
		return because("remedy_image", args{"recover": recover, "set": "weir workspace set " + w.Name + " --image IMAGE"})
	case ladder.ContainerWithoutVolume:
		return because("remedy_volume", args{"recover": recover})
	}
	return because("remedy", args{"recover": recover})
}
