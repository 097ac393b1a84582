package fleet

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/op"
)

// StateFree is the state of a device that may work. The other states of a span are offline,
// reserved, and those of [Healths] that keep a device out.
const (
	StateFree     = "free"
	StateReserved = "reserved"
)

// DeviceSpan is a stretch of time that a device was in one state.
type DeviceSpan struct {
	State string `json:"state" enum:"free,offline,reserved,quarantined,maintenance,retired"`
	// PC is the one that the device was attached to.
	PC   string     `json:"pc,omitempty"`
	From time.Time  `json:"from"`
	To   *time.Time `json:"to,omitempty" doc:"Absent: it is in that state."`
}

// DeviceRun is an attempt on a device.
type DeviceRun struct {
	Job     weir.ID `json:"job"`
	JobName string  `json:"job_name"`
	Task    weir.ID `json:"task"`
	Round   int     `json:"round"`
	Attempt int     `json:"attempt"`
	State   string  `json:"state" doc:"running, done, failed, canceled, skipped; of an attempt that was tried again: retrying, expired, returned."`
	// Reason is why it ended, for programs, and Cause for people.
	Reason string     `json:"reason,omitempty"`
	Cause  string     `json:"cause,omitempty"`
	From   time.Time  `json:"from"`
	To     *time.Time `json:"to,omitempty" doc:"Absent: it runs."`
}

// DeviceHistory is what a device did and went through, newest first.
type DeviceHistory struct {
	Serial string       `json:"serial"`
	Flaps  int          `json:"flaps" doc:"How often it went away within an hour."`
	Runs   []DeviceRun  `json:"runs"`
	States []DeviceSpan `json:"states"`
}

// Usage is how a device or a PC spent a window of time. Times are seconds; those of a PC are
// the sums of its devices.
type Usage struct {
	Window string    `json:"window" doc:"24h or 7d."`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	// Working is the time in runs, Idle that in which the device could have worked.
	Working int64 `json:"working" doc:"Seconds in runs of jobs."`
	Idle    int64 `json:"idle" doc:"Seconds in which it could have worked, and did not."`
	// Out is the rest, by state.
	Out    map[string]int64 `json:"out" doc:"Seconds in which it could not work, by the reason: offline, reserved, quarantined, maintenance, retired."`
	Runs   int              `json:"runs" doc:"Attempts that ended in the window, or run."`
	Failed int              `json:"failed" doc:"Those of them that failed."`
}

// Total returns the time that is known of the window.
func (u Usage) Total() int64 {
	total := u.Working + u.Idle
	for _, n := range u.Out {
		total += n
	}
	return total
}

// DeviceUsage is the usage of a device.
type DeviceUsage struct {
	Serial  string  `json:"serial"`
	Windows []Usage `json:"windows"`
}

// PCUsage is the usage of the devices that are attached to a PC.
type PCUsage struct {
	PC      string        `json:"pc"`
	Windows []Usage       `json:"windows"`
	Devices []DeviceUsage `json:"devices"`
}

// usageWindows are the windows of time that are reported.
var usageWindows = []struct {
	name string
	long time.Duration
}{{"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}}

const (
	// unitsMost is how many of the latest units of a device are read.
	unitsMost = 2000
	// usageDevices is how many devices of a PC are read, all that it may have.
	usageDevices = 1000
)

// DeviceHistory reads the latest runs and states of a device.
func (s *Store) DeviceHistory(ctx context.Context, serial string, most int) (h DeviceHistory, err error) {
	d, err := s.Device(ctx, serial)
	if err != nil {
		return h, err
	}
	runs, spans, err := s.past(ctx, []string{serial}, time.Time{}, most)
	h = DeviceHistory{Serial: d.Serial, Flaps: d.Flaps, Runs: runs[serial], States: spans[serial]}
	if h.Runs = h.Runs[:min(len(h.Runs), most)]; h.Runs == nil {
		h.Runs = []DeviceRun{}
	}
	if h.States = h.States[:min(len(h.States), most)]; h.States == nil {
		h.States = []DeviceSpan{}
	}
	return h, err
}

// DeviceUsage reads how a device spent the last day and the last week.
func (s *Store) DeviceUsage(ctx context.Context, serial string) (u DeviceUsage, err error) {
	if _, err := s.Device(ctx, serial); err != nil {
		return u, err
	}
	list, err := s.usages(ctx, []string{serial}, time.Now())
	if err != nil {
		return u, err
	}
	return list[0], nil
}

// PCUsage reads how the devices of a PC spent the last day and the last week.
func (s *Store) PCUsage(ctx context.Context, name string) (u PCUsage, err error) {
	pc, err := s.PC(ctx, name)
	if err != nil {
		return u, err
	}
	serials, err := s.serialsOf(ctx, pc.Name, usageDevices)
	if err != nil {
		return u, fmt.Errorf("read usage: %w", err)
	}
	now := time.Now()
	u.PC = pc.Name
	if u.Devices, err = s.usages(ctx, serials, now); err != nil {
		return u, err
	}
	for i, w := range usageWindows {
		sum := Usage{Window: w.name, From: now.Add(-w.long), To: now, Out: map[string]int64{}}
		for _, d := range u.Devices {
			sum.add(d.Windows[i])
		}
		u.Windows = append(u.Windows, sum)
	}
	return u, nil
}

func (u *Usage) add(o Usage) {
	u.Working += o.Working
	u.Idle += o.Idle
	u.Runs += o.Runs
	u.Failed += o.Failed
	for state, n := range o.Out {
		u.Out[state] += n
	}
}

// usages reads the usage of devices.
func (s *Store) usages(ctx context.Context, serials []string, now time.Time) ([]DeviceUsage, error) {
	longest := usageWindows[len(usageWindows)-1].long
	runs, spans, err := s.past(ctx, serials, now.Add(-longest), unitsMost)
	if err != nil {
		return nil, err
	}
	out := []DeviceUsage{}
	for _, serial := range serials {
		d := DeviceUsage{Serial: serial}
		for _, w := range usageWindows {
			u := usage(spans[serial], runs[serial], now.Add(-w.long), now)
			u.Window = w.name
			d.Windows = append(d.Windows, u)
		}
		out = append(out, d)
	}
	return out, nil
}

// past reads runs and states of devices that had not ended at a time.
func (s *Store) past(
	ctx context.Context, serials []string, since time.Time, most int,
) (runs map[string][]DeviceRun, spans map[string][]DeviceSpan, err error) {
	if runs, err = s.deviceRuns(ctx, serials, since, most); err == nil {
		spans, err = s.deviceSpans(ctx, serials, since, most)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the past of devices: %w", err)
	}
	return runs, spans, nil
}

// usage divides a window among what a device did and the states that it was in. A run counts
// as work in whatever state its device was: what ran goes on when a device is reserved.
func usage(spans []DeviceSpan, runs []DeviceRun, from, to time.Time) Usage {
	u := Usage{From: from, To: to, Out: map[string]int64{}}
	var busy []stretch
	for _, r := range runs {
		if c := clip(r.From, r.To, from, to); c.long() > 0 {
			busy = append(busy, c)
			u.Runs++
			if r.State == "failed" || r.State == "retrying" || r.State == "expired" {
				u.Failed++
			}
		}
	}
	busy = merged(busy)
	var working, idle time.Duration
	for _, b := range busy {
		working += b.long()
	}
	out := map[string]time.Duration{}
	for _, s := range spans {
		c := clip(s.From, s.To, from, to)
		free := c.long()
		for _, b := range busy {
			free -= clip(b.from, &b.to, c.from, c.to).long()
		}
		switch {
		case free <= 0:
		case s.State == StateFree:
			idle += free
		default:
			out[s.State] += free
		}
	}
	u.Working, u.Idle = seconds(working), seconds(idle)
	for state, d := range out {
		u.Out[state] = seconds(d)
	}
	return u
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

type stretch struct{ from, to time.Time }

func (s stretch) long() time.Duration { return max(s.to.Sub(s.from), 0) }

// clip returns the part of a stretch within a window. Without an end it lasts.
func clip(from time.Time, to *time.Time, first, last time.Time) stretch {
	end := last
	if to != nil && to.Before(last) {
		end = *to
	}
	if from.Before(first) {
		from = first
	}
	return stretch{from, end}
}

// merged returns stretches that do not overlap: attempts of a device are one after the other,
// and a late report may say otherwise.
func merged(list []stretch) (out []stretch) {
	slices.SortFunc(list, func(a, b stretch) int {
		return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to))
	})
	for _, s := range list {
		if n := len(out); n > 0 && !s.from.After(out[n-1].to) {
			if s.to.After(out[n-1].to) {
				out[n-1].to = s.to
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// Operations on the past of devices and PCs.
var (
	ShowDeviceHistory = op.New(onDevices(http.MethodGet, "history", "/{serial}/history", auth.Read,
		"Show what ran on a device and the states it went through, newest first"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *DevicePast) (DeviceHistory, error) {
			return s.DeviceHistory(ctx, in.Serial, in.Limit)
		})
	ShowDeviceUsage = op.New(onDevices(http.MethodGet, "usage", "/{serial}/usage", auth.Read,
		"Show how a device spent the last day and the last week"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedDevice) (DeviceUsage, error) {
			return s.DeviceUsage(ctx, in.Serial)
		})
	ShowPCUsage = op.New(onPCs(http.MethodGet, "usage", "/{pc}/usage", auth.Read,
		"Show how the devices of a PC spent the last day and the last week"),
		func(ctx context.Context, s *Store, _ auth.Subject, in *NamedPC) (PCUsage, error) {
			return s.PCUsage(ctx, in.PC)
		})
)
