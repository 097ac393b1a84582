package device

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// Source looks for devices.
type Source interface {
	// List returns all attached devices. It returns an error if it could not find out.
	List(ctx context.Context) (Listing, error)
	// String names the source for people.
	String() string
}

// Listing is the result of a look for devices.
type Listing struct {
	// Devices are sorted by serial, each serial once.
	Devices []node.Device
	// Skipped are things that are plugged in but cannot be used, with the reason.
	Skipped []Skipped
}

// Skipped is a thing that cannot be used as a device.
type Skipped struct{ Name, Why, Next string }

func (s Skipped) String() string {
	if s.Next == "" {
		return s.Name + ": " + s.Why
	}
	return s.Name + ": " + s.Why + "; " + s.Next
}

// Open makes a source of a text: "adb", a file of devices, or a command with its
// arguments.
func Open(text string) (Source, error) {
	const next = `give a YAML file, adb, or a command that prints the devices: --devices devices.yaml`
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, problem.Refuse("devices", next, "no source of devices is given")
	}
	if text == "adb" {
		return OpenADB("adb")
	}
	if isFile(text) {
		return OpenFile(text)
	}
	argv, err := node.SplitCommand(text)
	if err != nil {
		return nil, problem.Refuse("devices", "close the quote", "%s", err)
	}
	source, err := OpenCommand(argv)
	if err != nil {
		return nil, problem.Refuse("devices", next, "%q is neither a file nor a command: %s", text, problem.Explain(err).What)
	}
	return source, nil
}

// isFile reports whether a text names a file of devices: an existing file that is not
// executable, or a name that ends like YAML.
func isFile(text string) bool {
	if info, err := os.Stat(text); err == nil {
		return !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0
	}
	switch strings.ToLower(filepath.Ext(text)) {
	case ".yaml", ".yml", ".json":
		return !strings.ContainsAny(text, " \t")
	}
	return false
}

// listing sorts devices. A duplicate serial is an error, because the two devices could
// not be distinguished.
func listing(devices []node.Device, skipped []Skipped) (Listing, error) {
	if len(devices) > node.DevicesMost {
		return Listing{}, problem.Refuse("devices", "spread them over more PCs", "%d devices are more than the %d that a PC may have", len(devices), node.DevicesMost)
	}
	slices.SortStableFunc(devices, func(a, b node.Device) int { return strings.Compare(a.Serial, b.Serial) })
	for i := 1; i < len(devices); i++ {
		if devices[i].Serial == devices[i-1].Serial {
			return Listing{}, problem.Refuse("serial", "give each device the serial of its own hardware", "%s is there twice", devices[i].Serial)
		}
	}
	return Listing{Devices: devices, Skipped: skipped}, nil
}
