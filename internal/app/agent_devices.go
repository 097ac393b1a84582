package app

import (
	"cmp"
	"maps"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/device"
	"github.com/weirhq/weir/internal/agent/device/simulate"
	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// isPC reports whether devices hang on the machine.
func (c *AgentConfig) isPC() bool { return c.Devices != "" || c.Simulate.Devices > 0 }

// serveDevices makes a PC of the machine: it serves the fleet, besides what it was
// told to.
func (c *AgentConfig) serveDevices() {
	if !c.isPC() {
		return
	}
	slots := maps.Clone(c.Slots)
	if slots == nil {
		slots = map[string]int{}
	}
	slots[node.Fleet] = cmp.Or(c.DeviceSlots, node.DevicesMost) // until the server has said
	c.Slots = slots
}

// findDevices opens the source of the machine's devices. Simulated ones bring the
// driver that runs work on them.
func (c *AgentConfig) findDevices(drivers map[string]driver.Driver) (source device.Source, runs string, err error) {
	if c.Simulate.Devices == 0 {
		if c.Devices == "" {
			return nil, "", nil
		}
		source, err = device.Open(c.Devices)
		return source, "", err
	}
	c.Simulate.PC = c.Node
	lab, err := simulate.New(c.Simulate)
	if err != nil {
		return nil, "", err
	}
	drivers[lab.Name()] = lab
	return lab, lab.Name(), nil
}

// addDevices tells the agent of its devices.
func (a *Agent) addDevices(c *AgentConfig, config *agent.Config) (err error) {
	config.DeviceSlots = c.DeviceSlots
	if config.Forwards, err = agent.ParseForwards(c.Forwards); err != nil {
		return err
	}
	config.Devices, config.DeviceDriver, err = c.findDevices(config.Drivers)
	if config.Devices != nil {
		a.devices = config.Devices.String()
	}
	return err
}
