package node

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// Fleet is the service of tasks that run on a device. They are claimed for a PC together
// with one of its devices.
const Fleet = "fleet"

// DevicesMost is how many devices one PC may report.
const DevicesMost = 1000

// Device is a device that is attached to a PC and runs work.
type Device struct {
	// Serial is the serial number of the hardware. It identifies the device wherever it
	// is plugged in.
	Serial string `json:"serial"`
	// Target is how programs of the PC reach the device at the moment: an address or a
	// path. Empty means by its serial.
	Target string `json:"target,omitempty"`
	// Hub names what the device shares with others: when the hub fails, they are lost
	// together.
	Hub    string            `json:"hub,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// DeviceReport is what a PC sees. A device that is not in it is not attached, unless the
// PC is blind.
type DeviceReport struct {
	Devices []Device
	// Blind is set if the PC could not look, and Trouble says why. Then nothing is known
	// of its devices, and they get no work until the PC can look again.
	Blind bool
	// Trouble is what people should take care of: why the PC is blind, or which devices
	// it had to leave out.
	Trouble string
	// Slots is how many devices may work at once. Zero leaves the number unchanged.
	Slots int
}

// DeviceOrders is the answer to a report.
type DeviceOrders struct {
	// Stop are attempts of this PC that have lost their device.
	Stop []DeviceStop
	// Slots is how many devices may work at once, which an operator may have changed.
	Slots int
}

// DeviceStop is an attempt that must stop.
type DeviceStop struct {
	Task    weir.ID
	Attempt int
	Why     string
}

// Forward is a way to a port of a device that a person asks for.
type Forward struct {
	ID     weir.ID
	Serial string
	Port   int
}

const (
	targetMost = 256
	hubMost    = 128
	labelsMost = 32
	labelMost  = 200
)

var (
	// A serial becomes an argument, a variable and part of a key, so it is a plain word
	// that does not begin like an option.
	serialForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$`)
	labelForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$`)
)

// Check returns which field is invalid, and why.
func (d Device) Check() error {
	switch {
	case d.Serial == "":
		return problem.Refuse("serial", "give the serial number of the hardware", "a device has no serial")
	case !serialForm.MatchString(d.Serial):
		return problem.Refuse("serial", "use at most 128 letters, digits and . _ : @ + -, a letter or digit first", "%q is no serial", cut(d.Serial))
	case d.Target != "" && (!plain(d.Target, targetMost) || d.Target[0] == '-'):
		return problem.Refuse("target", "give an address or a path on one line, at most 256 bytes, that does not begin with -", "%q is no target", cut(d.Target))
	case d.Hub != "" && !plain(d.Hub, hubMost):
		return problem.Refuse("hub", "give a name on one line, at most 128 bytes", "%q is no name of a hub", cut(d.Hub))
	case len(d.Labels) > labelsMost:
		return problem.Refuse("labels", "keep those that jobs select by", "a device has at most %d labels, not %d", labelsMost, len(d.Labels))
	}
	for key, value := range d.Labels {
		switch {
		case !labelForm.MatchString(key):
			return problem.Refuse("labels", "use at most 63 letters, digits and . _ / -, a letter or digit first", "%q is no name of a label", cut(key))
		case value != "" && !plain(value, labelMost):
			return problem.Refuse("labels."+key, "give text on one line, at most 200 bytes", "%q is no value of a label", cut(value))
		}
	}
	return nil
}

// Reach returns how programs reach the device.
func (d Device) Reach() string {
	if d.Target != "" {
		return d.Target
	}
	return d.Serial
}

// plain reports whether text is one line of at most the given number of bytes.
func plain(text string, most int) bool {
	if len(text) > most || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// cut shortens text for a message.
func cut(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
