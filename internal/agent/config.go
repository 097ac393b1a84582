package agent

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// Config configures an agent. Transport, Info, Drivers and Dir are required.
type Config struct {
	Transport Transport
	Info      node.Info
	// Drivers are the drivers by name. Run closes those that have a Close method.
	Drivers map[string]driver.Driver
	// Services says how to run tasks of a service that do not specify it themselves.
	Services map[string]node.Run
	// Dir is the agent's own folder. Two agents must not share a folder.
	Dir string
	Log *slog.Logger

	// Lease is how long an agent has to renew the lease of a task. Zero means 30 s.
	Lease time.Duration
	// Keep is how much longer work goes on without contact, and stays with this node, if
	// it does not say so itself: see [node.Run.Keep]. Zero means no longer.
	Keep time.Duration
	// Beat is the time between two heartbeats. Zero means 10 s.
	Beat time.Duration
	// Grace is how long work may take to end after it is asked to. Zero means 10 s.
	Grace time.Duration
	// Patience is the timeout after which an agent without an answer gives up. Zero means
	// 60 s.
	Patience time.Duration
	// Enduring means that it does not give up, because nobody would start it again.
	Enduring bool
	// Poll is how long a claim waits for work. Zero means 20 s.
	Poll time.Duration
	// Probe is the time between two checks of the drivers. Zero means 10 s.
	Probe time.Duration
	// Rest is how long a service is not claimed after something broke on this node that
	// the work needs; each further time it is twice as long, up to RestMost. Zero means
	// 5 s and 5 min.
	Rest, RestMost time.Duration
	// OutputMost is the total size in bytes of the files that one attempt may output.
	// Zero means 10 GiB.
	OutputMost int64
	// Devices finds the devices of this machine, on which work of the service fleet runs.
	// Nil means that the machine has none.
	Devices device.Source
	// DeviceDriver runs all work on devices, whatever driver the work asks for. If it is
	// empty, the work's own driver runs it.
	DeviceDriver string
	// DeviceSlots is how many devices work at once. Zero means what the server says.
	DeviceSlots int
	// Forwards are the ports of its devices that people may reach through the agent. They
	// need a transport that is a [Forwarder].
	Forwards Forwards
	// Look is the time between two looks for devices. Zero means 5 s.
	Look time.Duration
	// Sleep is called when the node may go to sleep. If it is nil, the node stays awake.
	Sleep func()
}

func (c Config) withDefaults() Config {
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	c.Beat = cmp.Or(c.Beat, 10*time.Second)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.Patience = cmp.Or(c.Patience, time.Minute)
	c.Poll = cmp.Or(c.Poll, 20*time.Second)
	c.Look = cmp.Or(c.Look, 5*time.Second)
	c.Probe = cmp.Or(c.Probe, 10*time.Second)
	c.Rest = cmp.Or(c.Rest, 5*time.Second)
	c.RestMost = cmp.Or(c.RestMost, 5*time.Minute)
	c.OutputMost = cmp.Or(c.OutputMost, 10<<30)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Log = c.Log.With("node", c.Info.Name)
	return c
}

// Check returns all errors of the configuration together.
func (c Config) Check() error {
	var faults []error
	if c.Transport == nil {
		faults = append(faults, errors.New("an agent needs a transport"))
	}
	if c.Info.Name == "" {
		faults = append(faults, errors.New("a node needs a name"))
	}
	if len(c.Info.Capacity) == 0 {
		faults = append(faults, errors.New("an agent needs services to do"))
	}
	if c.Devices == nil && c.Info.Capacity[node.Fleet] > 0 {
		faults = append(faults, errors.New("an agent that serves a fleet needs devices"))
	}
	if _, ok := c.Transport.(Forwarder); !ok && len(c.Forwards) > 0 {
		faults = append(faults, errNoForwarder())
	}
	if len(c.Drivers) == 0 {
		faults = append(faults, errors.New("an agent needs a driver"))
	}
	if c.Dir == "" {
		faults = append(faults, errors.New("an agent needs a folder of its own"))
	}
	return errors.Join(faults...)
}
