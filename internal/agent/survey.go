package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/uptime"
)

// surveyMost is the timeout for finding the devices and reporting them.
const surveyMost = 30 * time.Second

// deviceLost is why work is stopped whose device is no longer there.
type deviceLost struct{ why string }

func (d *deviceLost) Error() string {
	if d.why == "" {
		return "the device is lost"
	}
	return "the device is lost: " + d.why
}

// survey is what the agent knows of its devices. Only one look is made at a time.
type survey struct {
	// looker is held by the goroutine that looks; it guards the following fields.
	looker chan struct{}
	// tried is the uptime at which the last look began, and told that of the last one
	// whose report was answered. 0 means that there was none.
	tried, told time.Duration
	// skipped and fault have been logged already.
	skipped []device.Skipped
	fault   string

	// Guarded by the agent's mutex.

	// begun is the uptime at which the last successful look began; 0 means that there was
	// none.
	begun time.Duration
	// known is set when a report was answered, so there may be work for the devices.
	// slots is how many may work at once, if the server said so.
	known   bool
	slots   int
	devices map[string]node.Device
}

// surveyLoop looks for devices and reports them until ctx ends.
func (a *Agent) surveyLoop(ctx context.Context) {
	if a.config.Devices == nil {
		return
	}
	for ctx.Err() == nil {
		a.surveyDevices(ctx, uptime.Now())
		loop.Wait(ctx, a.config.Look, nil)
	}
}

// surveyDevices looks for the devices, unless another goroutine has done so since then.
// If the source could not look, the agent reports exactly that, so that a broken program
// is not mistaken for a hundred lost devices.
func (a *Agent) surveyDevices(ctx context.Context, since time.Duration) {
	s := &a.survey
	ctx, cancel := context.WithTimeout(ctx, surveyMost)
	defer cancel()
	select {
	case s.looker <- struct{}{}:
		defer func() { <-s.looker }()
	case <-ctx.Done():
		return
	}
	if s.tried >= since && s.tried > 0 {
		return // another goroutine has looked in the meantime
	}
	begun := uptime.Now()
	s.tried = begun
	found, err := a.config.Devices.List(ctx)
	if err != nil {
		a.blind(ctx, err, begun)
		return
	}
	if s.fault != "" {
		s.fault, s.told = "", 0 // reported at once
	}
	a.logSkipped(found.Skipped)
	devices := make(map[string]node.Device, len(found.Devices))
	for _, d := range found.Devices {
		devices[d.Serial] = d
	}
	a.mu.Lock()
	was := s.devices
	s.begun, s.devices = begun, devices
	a.mu.Unlock()
	changed := was == nil || !maps.EqualFunc(was, devices, func(x, y node.Device) bool { return reflect.DeepEqual(x, y) })
	if changed {
		a.logDevices(was, devices)
		s.told = 0
	}
	if s.told == 0 || begun-s.told >= a.config.Beat {
		a.reportDevices(ctx, node.DeviceReport{Devices: found.Devices, Slots: a.config.DeviceSlots, Trouble: leftOut(found.Skipped)}, begun)
	}
}

// blind reports that the devices cannot be found out, at once and then with every beat.
func (a *Agent) blind(ctx context.Context, err error, begun time.Duration) {
	if ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s, text := &a.survey, err.Error()
	if text != s.fault {
		a.log.Warn("the devices cannot be found out; what is known of them stays", "source", a.config.Devices.String(), "error", err)
	} else if begun-s.told < a.config.Beat {
		return
	}
	s.fault = text
	tell, cancel := context.WithTimeout(context.WithoutCancel(ctx), callMost)
	defer cancel()
	a.reportDevices(tell, node.DeviceReport{Blind: true, Trouble: text}, begun)
}

// leftOut lists the devices that are attached but cannot be used.
func leftOut(skipped []device.Skipped) string {
	if len(skipped) == 0 {
		return ""
	}
	var words []string
	for _, s := range skipped[:min(len(skipped), 10)] {
		words = append(words, s.String())
	}
	if more := len(skipped) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return "left out: " + strings.Join(words, "; ")
}

// reportDevices reports which devices are attached, and stops work that has lost its
// device.
func (a *Agent) reportDevices(ctx context.Context, report node.DeviceReport, begun time.Duration) {
	orders, err := a.transport.Devices(ctx, report)
	if err != nil {
		if ctx.Err() == nil {
			a.failed("devices", err)
		}
		return // told stays, so that the next look reports
	}
	a.hear()
	news := a.survey.told == 0
	a.survey.told = begun
	a.mu.Lock()
	news = news || orders.Slots != a.survey.slots
	a.survey.known, a.survey.slots = true, orders.Slots
	a.mu.Unlock()
	for _, stop := range orders.Stop {
		a.mu.Lock()
		var gone *attempt
		for l, at := range a.held {
			if l.Task == stop.Task && l.Attempt == stop.Attempt && !at.ended {
				gone = at
			}
		}
		a.mu.Unlock()
		if gone != nil {
			gone.stop(&deviceLost{stop.Why})
		}
	}
	if news {
		signal(a.kick) // there may be work for new devices
	}
}

// missing reports whether the last successful look began at that time or later and did
// not find the device.
func (a *Agent) missing(serial string, since time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, there := a.survey.devices[serial]
	return a.survey.begun >= since && a.survey.devices != nil && !there
}

// found reports whether the last successful look began at that time or later and found
// the device.
func (a *Agent) found(serial string, since time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, there := a.survey.devices[serial]
	return a.survey.begun >= since && there
}

// where returns the device with its current address, which may have changed since the
// claim.
func (a *Agent) where(d node.Device) node.Device {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now, ok := a.survey.devices[d.Serial]; ok {
		return now
	}
	return d
}

// logDevices logs what has changed, in one line.
func (a *Agent) logDevices(was, are map[string]node.Device) {
	var came, went []string
	for serial := range are {
		if _, ok := was[serial]; !ok {
			came = append(came, serial)
		}
	}
	for serial := range was {
		if _, ok := are[serial]; !ok {
			went = append(went, serial)
		}
	}
	slices.Sort(came)
	slices.Sort(went)
	a.log.Info("the devices changed", "devices", len(are), "came", shown(came), "went", shown(went))
}

// shown returns as much of a list as fits into a line.
func shown(list []string) []string { return list[:min(len(list), 20)] }

// logSkipped logs once what is plugged in but cannot be used.
func (a *Agent) logSkipped(skipped []device.Skipped) {
	for _, s := range skipped {
		if !slices.Contains(a.survey.skipped, s) {
			a.log.Warn("a device cannot be used", "device", s.Name, "why", s.Why, "next", s.Next)
		}
	}
	a.survey.skipped = skipped
}
