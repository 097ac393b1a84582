package node

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// Fleet is the service of tasks that run on a device. They are claimed for a PC,
// which brings its devices along.
const Fleet = "fleet"

// DevicesMost is how many devices one PC may report.
const DevicesMost = 1000

// Device is a thing that hangs on a PC and that work is done on.
type Device struct {
	// Serial is that of the hardware, and what the device is known by wherever it
	// is plugged in.
	Serial string `json:"serial"`
	// Target is how programs of the PC reach it at the moment: an address, a path.
	// Empty: by its serial.
	Target string `json:"target,omitempty"`
	// Hub names what it shares with others: when that fails, they are lost together.
	Hub    string            `json:"hub,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// DeviceReport is what a PC sees. A device that is not in it is not there, unless the
// PC is blind.
type DeviceReport struct {
	Devices []Device
	// Blind: it could not look, and Trouble says why. Then nothing is known of its
	// devices, and they get no work until it can.
	Blind bool
	// Trouble is what people should see to: why it is blind, or which devices it had to
	// leave out.
	Trouble string
	// Slots is how many devices may work at once. Zero: as it is known.
	Slots int
}

// DeviceOrders is what a PC is told in return.
type DeviceOrders struct {
	// Stop are attempts of this PC that have lost their device.
	Stop []DeviceStop
	// Slots is how many devices may work at once: somebody may have changed it.
	Slots int
}

// DeviceStop is one of them.
type DeviceStop struct {
	Task    weir.ID
	Attempt int
	Why     string
}

const (
	targetMost = 256
	hubMost    = 128
	labelsMost = 32
	labelMost  = 200
)

var (
	// A serial becomes an argument, a variable and part of a key, so it is a plain
	// word that begins like no option.
	serialForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$`)
	labelForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$`)
)

// Check says which field cannot be taken, and why.
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

// Reach is how programs reach the device.
func (d Device) Reach() string {
	if d.Target != "" {
		return d.Target
	}
	return d.Serial
}

// plain reports whether text is one line of at most so many bytes.
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

// cut is text short enough for a message.
func cut(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
