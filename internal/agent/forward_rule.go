package agent

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// forwardsMost is how many rules an operator may give.
const forwardsMost = 32

// Forwards are the ports that the operator of a PC lets people reach on its devices. Nothing
// else of the PC can be reached by a forward.
type Forwards []forwardRule

// forwardRule allows the ports from first to last. A rule without an address leads to the same
// port of this machine. With target it leads to the device's own address, otherwise to host and
// the port that is given or that the label of the device has.
type forwardRule struct {
	first, last int
	target      bool
	host        string
	port        int
	label       string
}

var (
	portsForm   = regexp.MustCompile(`^(\d{1,5})(?:-(\d{1,5}))?$`)
	addressForm = regexp.MustCompile(`^(?:(.+):)?(?:(\d{1,5})|\{label\.([A-Za-z0-9][A-Za-z0-9._/-]{0,62})\})$`)
	hostForm    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// ParseForwards reads rules: 5555={target}, 5555={label.adb}, 8000-8010, 5555=192.0.2.1:5555.
func ParseForwards(rules []string) (Forwards, error) {
	const next = "write it so: --forward '5555={target}', --forward '5555={label.adb}' or --forward 8000-8010"
	if len(rules) > forwardsMost {
		return nil, problem.Refuse("forward", "use ranges", "%d rules are more than %d", len(rules), forwardsMost)
	}
	var all Forwards
	for _, text := range rules {
		ports, address, given := strings.Cut(text, "=")
		r, ok := forwardPorts(strings.TrimSpace(ports))
		if !ok {
			return nil, problem.Refuse("forward", next, "%.80q names no ports from 1 to 65535", text)
		}
		if given && (r.first != r.last || !r.leads(strings.TrimSpace(address))) {
			return nil, problem.Refuse("forward", next, "%.80q does not say where one port leads", text)
		}
		if slices.ContainsFunc(all, func(o forwardRule) bool { return r.first <= o.last && o.first <= r.last }) {
			return nil, problem.Refuse("forward", "name each port once", "%.80q names a port that another rule has", text)
		}
		all = append(all, r)
	}
	return all, nil
}

func forwardPorts(text string) (r forwardRule, ok bool) {
	m := portsForm.FindStringSubmatch(text)
	if m == nil {
		return r, false
	}
	r.first, _ = strconv.Atoi(m[1]) // at most five digits
	if r.last = r.first; m[2] != "" {
		r.last, _ = strconv.Atoi(m[2]) // the same
	}
	return r, r.first >= 1 && r.first <= r.last && r.last <= 65535
}

// leads reads where the rule leads.
func (r *forwardRule) leads(address string) bool {
	if address == "{target}" {
		r.target = true
		return true
	}
	m := addressForm.FindStringSubmatch(address)
	if m == nil {
		return false
	}
	r.host, r.label = strings.Trim(m[1], "[]"), m[3]
	if m[2] != "" {
		r.port, _ = strconv.Atoi(m[2]) // at most five digits
		if r.port < 1 || r.port > 65535 {
			return false
		}
	}
	_, err := netip.ParseAddr(r.host)
	return r.host == "" || err == nil || hostForm.MatchString(r.host)
}

// Ports returns all ports in words: 5555,8000-8010.
func (f Forwards) Ports() string {
	var words []string
	for _, r := range f {
		word := strconv.Itoa(r.first)
		if r.last > r.first {
			word += "-" + strconv.Itoa(r.last)
		}
		words = append(words, word)
	}
	return strings.Join(words, ",")
}

// Address returns where a port of a device leads. The device is as this PC sees it: nothing
// that a server says becomes an address.
func (f Forwards) Address(d node.Device, port int) (string, error) {
	for _, r := range f {
		if port < r.first || port > r.last {
			continue
		}
		if r.target {
			return targetAddress(d)
		}
		to := port
		if r.label != "" {
			var err error
			if to, err = strconv.Atoi(d.Labels[r.label]); err != nil || to < 1 || to > 65535 {
				return "", fmt.Errorf("the label %s of the device names no port", r.label)
			}
		} else if r.port > 0 {
			to = r.port
		}
		host := r.host
		if host == "" {
			host = "127.0.0.1"
		}
		return net.JoinHostPort(host, strconv.Itoa(to)), nil
	}
	return "", fmt.Errorf("port %d is not allowed", port)
}

// targetAddress returns the address that the device has itself.
func targetAddress(d node.Device) (string, error) {
	host, port, err := net.SplitHostPort(d.Target)
	n, number := strconv.Atoi(port)
	if err != nil || host == "" || number != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("the device has no address of its own: it is not reached over the network")
	}
	return net.JoinHostPort(host, port), nil
}
