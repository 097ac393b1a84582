package fleetpages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/web/picture"
	"github.com/weirhq/weir/internal/web/ui"
)

const (
	// pastRead is how many runs and states of a device are read for its strip.
	pastRead = 200
	// stretchesShown is how many parts the strip has at most, the newest.
	stretchesShown = 40
)

// usedView is how a device or a PC was used.
type usedView struct {
	windows []fleet.Usage
	// life is the last day of a device; it has no spans for a PC.
	life picture.Life
}

// devicePast is the last day of a device: its runs, and between them the states it was in.
func devicePast(ctx context.Context, h fleet.DeviceHistory, now time.Time) picture.Life {
	out := picture.Life{Title: ui.Say(ctx, "use.strip", ui.Line(h.Serial)), Now: now, Width: 860}
	first := now.Add(-24 * time.Hour)
	runs := slices.Clone(h.Runs)
	slices.Reverse(runs)
	for _, s := range slices.Backward(h.States) {
		from, to := within(s.From, s.To, first, now)
		for _, r := range runs {
			begun, ended := within(r.From, r.To, first, now)
			if !begun.Before(to) || !ended.After(from) || begun.Before(from) {
				continue
			}
			out.Spans = stretched(out.Spans, picture.State(s.State), s.PC, from, begun)
			out.Spans = stretched(out.Spans, picture.State(r.State), r.JobName, begun, ended)
			from = ended
		}
		out.Spans = stretched(out.Spans, picture.State(s.State), s.PC, from, to)
	}
	out.Spans = out.Spans[max(0, len(out.Spans)-stretchesShown):]
	return out
}

// stretched adds a stretch that lasts.
func stretched(list []picture.Span, state picture.State, note string, from, to time.Time) []picture.Span {
	if !to.After(from) {
		return list
	}
	return append(list, picture.Span{State: state, Note: ui.Line(note), From: from, To: to})
}

// within cuts a stretch to a window.
func within(from time.Time, to *time.Time, first, last time.Time) (time.Time, time.Time) {
	if from.Before(first) {
		from = first
	}
	if to == nil || to.After(last) {
		return from, last
	}
	return from, *to
}

// percent is a part of a time.
func percent(part, of int64) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}

// outWords says why a device was out of use.
func outWords(ctx context.Context, u fleet.Usage) string {
	var words []string
	for _, state := range slices.Sorted(maps.Keys(u.Out)) {
		words = append(words, ui.Code(ctx, "drawn.", state)+" "+percent(u.Out[state], u.Total()))
	}
	return strings.Join(words, ", ")
}
