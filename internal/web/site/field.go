package site

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/op"
	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/web/ui"
)

// KeyMost bounds the key of a form, which comes back from the browser.
const KeyMost = 64

// SpanField reads a duration; an empty field is zero. The form shows what the
// database says, such as 00:30:00, and takes it again.
func SpanField(r *Request, name string) (time.Duration, error) {
	text := r.Field(name)
	if text == "" {
		return 0, nil
	}
	if d, ok := clockSpan(text); ok {
		return d, nil
	}
	d, err := period.Parse(text)
	if err != nil {
		return 0, problem.Refuse(name, "write it so: 90s, 30m, 2h, 1d", "%q is no time", text)
	}
	return d, nil
}

// clockSpan reads 00:30:00.
func clockSpan(text string) (time.Duration, bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, false
	}
	d, err := time.ParseDuration(parts[0] + "h" + parts[1] + "m" + parts[2] + "s")
	return d, err == nil && d >= 0
}

// SpanText is a duration as people write it: without the zeros of 1h0m0s.
func SpanText(d time.Duration) string { return op.Period(d).String() }

// ReasonFor is a field that must be filled in: others will ask why.
func ReasonFor(ctx context.Context) []ui.Field {
	return []ui.Field{{Name: "reason", Label: ui.Say(ctx, "ask.reason"), Hint: ui.Say(ctx, "ask.reason.hint"), Focus: true, Auto: "off"}}
}

// Decision is who commands and why, for the timeline.
func (r *Request) Decision() weir.Decision {
	return weir.Decision{By: r.By(), Reason: r.Field("reason")}
}

// ReasonField asks why.
func ReasonField(ctx context.Context, hint string, optional bool) []ui.Field {
	return []ui.Field{{
		Name: "reason", Label: ui.Say(ctx, "word.reason"), Hint: hint, Optional: optional, Focus: true,
		Auto: "off",
	}}
}

// ReadPairs reads name=value, one on a line.
func ReadPairs(r *Request, field string) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.Lines(r.PostForm.Get(field)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !found || name == "" {
			return nil, problem.Refuse(field, "write name=value, one on a line", "%q has no value", line)
		}
		out[name] = value
	}
	return out, nil
}

// ReadCapacity reads service=number, one on a line.
func ReadCapacity(r *Request, field string) (map[string]int, error) {
	words, err := ReadPairs(r, field)
	if err != nil {
		return nil, err
	}
	capacity := make(map[string]int, len(words))
	for service, text := range words {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, problem.Refuse(field, "write service=number, one on a line", "%s: %q is no number of slots", service, text)
		}
		capacity[service] = n
	}
	return capacity, nil
}
