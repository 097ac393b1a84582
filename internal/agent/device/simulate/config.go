package simulate

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// hubSize is how many devices are attached to one hub.
const hubSize = 7

// Config configures a lab. PC and Devices are required. Rates are from 0 to 1.
type Config struct {
	// PC is part of the serials, so that the serials of two labs differ.
	PC      string
	Devices int
	// Seed determines what happens. The same seed gives the same events again.
	Seed uint64
	// Fail, Infra and Hang are the shares of attempts that end with an error of the test,
	// end with an error of the infrastructure, and never end.
	Fail, Infra, Hang float64
	// Flap is the share of minutes in which a device is lost for a while; HubFlap is the
	// share of minutes in which a whole hub is lost.
	Flap, HubFlap float64
	// Bad is the share of devices on which every attempt fails.
	Bad float64
	// Shortest and Longest bound how long an attempt takes. Zero means 2 s and 20 s; if
	// only one is set, the other is the same.
	Shortest, Longest time.Duration
}

func (c Config) withDefaults() Config {
	switch {
	case c.Shortest == 0 && c.Longest == 0:
		c.Shortest, c.Longest = 2*time.Second, 20*time.Second
	case c.Shortest == 0:
		c.Shortest = c.Longest
	case c.Longest == 0:
		c.Longest = c.Shortest
	}
	return c
}

// Check returns all errors of the configuration together.
func (c Config) Check() error {
	c = c.withDefaults()
	var faults []error
	refuse := func(field, next, format string, args ...any) {
		faults = append(faults, problem.Refuse(field, next, format, args...))
	}
	if c.PC == "" {
		refuse("pc", "name it: --pc PC-01", "a lab hangs on a PC")
	} else if err := (node.Device{Serial: serialOf(c.PC, 1)}).Check(); err != nil {
		refuse("pc", "use letters, digits and . _ : @ + -", "%q cannot be part of serials", c.PC)
	}
	if c.Devices < 1 || c.Devices > node.DevicesMost {
		refuse("simulate", fmt.Sprintf("from 1 to %d", node.DevicesMost), "%d is no number of devices", c.Devices)
	}
	for field, rate := range map[string]float64{"fail": c.Fail, "infra": c.Infra, "hang": c.Hang, "flap": c.Flap, "hub-flap": c.HubFlap, "bad": c.Bad} {
		if !(rate >= 0 && rate <= 1) {
			refuse(field, "from 0 to 1: 0.05 is five of a hundred", "%v is no rate", rate)
		}
	}
	if c.Fail+c.Infra+c.Hang > 1 {
		refuse("fail", "let fail, infra and hang sum up to 1 at most", "%v of the attempts cannot end badly", c.Fail+c.Infra+c.Hang)
	}
	if c.Shortest < 0 || c.Longest < c.Shortest {
		refuse("shortest", "give a span such as 2s to 20s", "attempts cannot take from %s to %s", c.Shortest, c.Longest)
	}
	return errors.Join(faults...)
}
