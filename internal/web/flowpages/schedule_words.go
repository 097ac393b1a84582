package flowpages

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/web/ui"
)

var cronNicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// specWords says a simple spec as people do: "at 03:00 each day, UTC". It is
// empty for the others, which are shown as they are written.
func specWords(ctx context.Context, spec, zone string) string {
	spec = strings.TrimSpace(spec)
	if text, ok := strings.CutPrefix(spec, "@every "); ok {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < time.Second {
			return ""
		}
		return everyWords(ctx, d.Truncate(time.Second))
	}
	if full, ok := cronNicknames[spec]; ok {
		spec = full
	}
	f := strings.Fields(spec)
	if len(f) != 5 {
		return ""
	}
	if words := paceWords(ctx, f); words != "" {
		return words
	}
	at, day := timeWords(f[0], f[1]), dayWords(ctx, f[2], f[3], f[4])
	if at == "" || day == "" {
		return ""
	}
	return ui.Say(ctx, "spec.at", at, day, zone)
}

func everyWords(ctx context.Context, d time.Duration) string {
	switch {
	case d == time.Second:
		return ui.Say(ctx, "spec.second")
	case d == time.Minute:
		return ui.Say(ctx, "spec.minute")
	case d == time.Hour:
		return ui.Say(ctx, "spec.hour")
	case d == 24*time.Hour:
		return ui.Say(ctx, "spec.day")
	case d < time.Minute:
		return ui.Say(ctx, "spec.seconds", d/time.Second)
	case d < time.Hour && d%time.Minute == 0:
		return ui.Say(ctx, "spec.minutes", d/time.Minute)
	case d%time.Hour == 0:
		return ui.Say(ctx, "spec.hours", d/time.Hour)
	}
	return ui.Say(ctx, "spec.every", ui.Duration(ctx, d))
}

// paceWords is for lines that name no day and no hour.
func paceWords(ctx context.Context, f []string) string {
	if f[2] != "*" || f[3] != "*" || f[4] != "*" {
		return ""
	}
	minute, isMinute := cronNumber(f[0], 0, 59)
	switch {
	case f[1] == "*" && (f[0] == "*" || f[0] == "*/1"):
		return ui.Say(ctx, "spec.minute")
	case f[1] == "*" && isMinute && minute == 0:
		return ui.Say(ctx, "spec.hour")
	case f[1] == "*" && isMinute:
		return ui.Count(ctx, "spec.after", minute)
	case f[1] == "*":
		if n := cronStep(f[0], 60); n > 0 {
			return ui.Say(ctx, "spec.minutes", n)
		}
	case isMinute && minute == 0:
		if n := cronStep(f[1], 24); n > 0 {
			return ui.Say(ctx, "spec.hours", n)
		}
	}
	return ""
}

// cronStep is n of */n, where that is the same time between all runs.
func cronStep(field string, whole int) int {
	text, ok := strings.CutPrefix(field, "*/")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 2 || n >= whole || whole%n != 0 {
		return 0
	}
	return n
}

func cronNumber(field string, least, most int) (int, bool) {
	n, err := strconv.Atoi(field)
	return n, err == nil && n >= least && n <= most
}

// timeWords is a time of day.
func timeWords(minute, hour string) string {
	m, okM := cronNumber(minute, 0, 59)
	h, okH := cronNumber(hour, 0, 23)
	if !okM || !okH {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", h, m)
}

// dayWords is which days a line names.
func dayWords(ctx context.Context, day, month, weekday string) string {
	d, isDay := cronNumber(day, 1, 31)
	m, isMonth := cronNumber(month, 1, 12)
	switch {
	case day == "*" && month == "*" && weekday == "*":
		return ui.Say(ctx, "spec.eachday")
	case day == "*" && month == "*":
		return weekdayWords(ctx, weekday)
	case isDay && month == "*" && weekday == "*":
		return ui.Say(ctx, "spec.monthday", d)
	case isDay && isMonth && weekday == "*":
		return ui.Say(ctx, "spec.date", d, ui.Say(ctx, "month."+strconv.Itoa(m)))
	}
	return ""
}

func weekdayWords(ctx context.Context, field string) string {
	switch strings.ToLower(field) {
	case "1-5", "mon-fri":
		return ui.Say(ctx, "spec.weekdays")
	case "0,6", "6,0", "6,7", "sat,sun", "sun,sat":
		return ui.Say(ctx, "spec.weekend")
	}
	if n, ok := cronNumber(field, 0, 7); ok {
		return ui.Say(ctx, "spec.each", dayName(ctx, time.Weekday(n%7)))
	}
	for n := time.Sunday; n <= time.Saturday; n++ {
		if strings.EqualFold(field, n.String()[:3]) {
			return ui.Say(ctx, "spec.each", dayName(ctx, n))
		}
	}
	return ""
}

// dayName is the name of a day of the week; weekday is the short one.
func dayName(ctx context.Context, d time.Weekday) string {
	return ui.Say(ctx, "day."+strconv.Itoa(int(d)))
}

func weekday(ctx context.Context, t time.Time) string {
	return ui.Say(ctx, "day.short."+strconv.Itoa(int(t.Weekday())))
}
