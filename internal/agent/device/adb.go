package device

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/node"
)

// askWithin is the timeout for asking one device for its serial.
const askWithin = 5 * time.Second

// ADB is a source that asks the Android Debug Bridge.
type ADB struct {
	run runner

	mu sync.Mutex
	// serials are those of devices that are reached over the network, by address and
	// connection. After a new connection, the device is asked again.
	serials map[string]string
}

// OpenADB finds adb.
func OpenADB(program string) (*ADB, error) {
	run, err := newRunner([]string{program})
	return &ADB{run: run, serials: map[string]string{}}, err
}

func (a *ADB) String() string { return "adb devices -l" }

// List returns the attached devices. A device that is reached over the network is asked
// for the serial of its hardware, because its name is only an address.
func (a *ADB) List(ctx context.Context) (Listing, error) {
	text, err := a.run.output(ctx, "devices", "-l")
	if err != nil {
		return Listing{}, err
	}
	found, err := parseADB(text)
	if err != nil {
		return Listing{}, err
	}
	var devices []node.Device
	var skipped []Skipped
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[string]string{}
	for _, f := range found {
		if why, next := f.unfit(); why != "" {
			skipped = append(skipped, Skipped{f.name, why, next})
			continue
		}
		d := f.device()
		if f.wireless() {
			link := f.name + " " + f.facts["transport_id"]
			if d.Serial = a.serials[link]; d.Serial == "" {
				d.Serial, err = a.ask(ctx, f.name)
			}
			if ctx.Err() != nil {
				return Listing{}, ctx.Err()
			}
			if err != nil {
				skipped = append(skipped, Skipped{f.name, "it does not say its serial: " + err.Error(), "look whether it answers: adb -s " + f.name + " shell getprop ro.serialno"})
				err = nil
				continue
			}
			known[link] = d.Serial
		}
		if err := d.Check(); err != nil {
			skipped = append(skipped, Skipped{f.name, err.Error(), ""})
			continue
		}
		devices = append(devices, d)
	}
	a.serials = known
	devices, more := once(devices)
	return listing(devices, append(skipped, more...))
}

// once keeps the first connection to each device, which is the cable if there is one.
func once(devices []node.Device) (kept []node.Device, skipped []Skipped) {
	at := map[string]int{}
	for _, d := range devices {
		i, twice := at[d.Serial]
		switch {
		case !twice:
			at[d.Serial] = len(kept)
			kept = append(kept, d)
		case kept[i].Hub == "" && d.Hub != "":
			skipped = append(skipped, Skipped{kept[i].Target, "it is " + d.Serial + ", which is plugged in too", ""})
			kept[i] = d
		default:
			skipped = append(skipped, Skipped{d.Target, "it is " + d.Serial + ", which is there already", ""})
		}
	}
	return kept, skipped
}

// ask reads the serial of a device from the device itself.
func (a *ADB) ask(ctx context.Context, name string) (string, error) {
	run := a.run
	run.within = askWithin
	text, err := run.output(ctx, "-s", name, "shell", "getprop", "ro.serialno")
	if err != nil {
		return "", err
	}
	serial := strings.TrimSpace(string(text))
	if serial == "" || serial == "unknown" {
		return "", errors.New("it has none")
	}
	return serial, nil
}

// attached is one line of the output of adb devices -l.
type attached struct {
	name, state string
	// facts are the fields that follow the state: usb, product, model, device,
	// transport_id.
	facts map[string]string
}

// states are the states of adb in which a device cannot be used, with the reason and what
// to do.
var states = map[string]struct{ why, next string }{
	"offline":        {"it is offline", "unplug it and plug it in again, or restart it"},
	"unauthorized":   {"it has not allowed this PC", "confirm the key of this PC on its screen"},
	"authorizing":    {"it is being asked to allow this PC", ""},
	"connecting":     {"it is connecting", ""},
	"no permissions": {"this user may not use it", "add a udev rule for it, or the user to the group plugdev"},
	"bootloader":     {"it is in its bootloader", "let it start: fastboot reboot"},
	"recovery":       {"it is in recovery", "let it start: adb reboot"},
	"sideload":       {"it is in recovery, for a sideload", "let it start: adb reboot"},
	"rescue":         {"it is in rescue mode", "let it start: adb reboot"},
}

// unfit returns why the device cannot be used.
func (f attached) unfit() (why, next string) {
	if f.state == "device" {
		return "", ""
	}
	if s, ok := states[f.state]; ok {
		return s.why, s.next
	}
	return "its state is " + f.state, ""
}

// wireless reports whether the name of the device is an address: host:port, or a name
// that it announces by mDNS.
func (f attached) wireless() bool {
	return strings.Contains(f.name, "._adb") || strings.Contains(f.name, ":")
}

// device returns the device as the node reports it.
func (f attached) device() node.Device {
	d := node.Device{Serial: f.name, Target: f.name, Hub: hubOf(f.facts["usb"]), Labels: map[string]string{}}
	for _, key := range []string{"model", "product"} {
		if value := f.facts[key]; value != "" {
			d.Labels[key] = value
		}
	}
	return d
}

// port matches a USB path in the form of Linux: the bus, then the port of each hub.
var port = regexp.MustCompile(`^\d+-\d+(\.\d+)*$`)

// hubOf returns the hub of a USB path: 1-1.2 is port 2 of the hub at 1-1, and 1-1 is a
// port of the machine itself.
func hubOf(path string) string {
	if !port.MatchString(path) {
		return ""
	}
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		return "usb:" + path[:i]
	}
	bus, _, _ := strings.Cut(path, "-")
	return "usb:" + bus
}

// head is the first line of the list. Output without it is not a list of devices.
const head = "List of devices attached"

// fact matches a field that may follow the state.
var fact = regexp.MustCompile(`^(usb|product|model|device|features|transport_id):(\S*)$`)

// parseADB reads the output of adb devices -l.
func parseADB(text []byte) (found []attached, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, outputMost)
	begun := false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, head):
			begun = true
		case !begun, line == "", strings.HasPrefix(line, "*"): // the adb daemon starts
		default:
			found = append(found, parseAttached(line))
		}
	}
	if !begun {
		return nil, errors.New("adb devices printed no list" + said(text))
	}
	return found, lines.Err()
}

// parseAttached reads a line. A name that adb made from mDNS may contain spaces, and so
// may a state: the facts are at the end of the line, and the first word that is a state
// begins the state.
func parseAttached(line string) attached {
	f := attached{facts: map[string]string{}}
	words := strings.Fields(line)
	for len(words) > 1 {
		m := fact.FindStringSubmatch(words[len(words)-1])
		if m == nil {
			break
		}
		f.facts[m[1]] = m[2]
		words = words[:len(words)-1]
	}
	f.name = words[0]
	rest := words[1:]
	for len(rest) > 1 && strings.HasPrefix(rest[0], "(") { // "adb-X (2)._adb-tls-connect._tcp"
		f.name += " " + rest[0]
		rest = rest[1:]
	}
	f.state = strings.Join(rest, " ")
	if strings.HasPrefix(f.state, "no permissions") {
		f.state = "no permissions"
	}
	return f
}
