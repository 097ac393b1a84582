package wake

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/problem"
)

// The ways to wake a node.
const (
	WOL    = "wol"
	HTTP   = "http"
	Script = "script"
)

// Method is how one node is woken. The zero value means not at all.
type Method struct {
	// Kind is [WOL], [HTTP], [Script], or empty.
	Kind string `json:"-"`
	// MAC is the address that a magic packet wakes. The packet goes to Broadcast
	// (host:port; empty: the server's setting), or to the network of Interface.
	MAC       string `json:"mac,omitempty"`
	Broadcast string `json:"broadcast,omitempty"`
	Interface string `json:"interface,omitempty"`
	// URL receives a POST that names the node.
	URL string `json:"url,omitempty"`
	// Script is the name of a file in the server's folder. It is run with the node's name
	// and Args.
	Script string   `json:"script,omitempty"`
	Args   []string `json:"args,omitempty"`
	// Timeout is how long the node may take to be seen after a try. Zero means 2 min.
	Timeout Seconds `json:"timeout,omitempty"`
	// SleepAfter is how long an idle node stays awake. Zero means forever.
	SleepAfter time.Duration `json:"-"`
}

// Seconds is a duration that JSON represents as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes a number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// UnmarshalJSON reads a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var n float64
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	*s = Seconds(n * float64(time.Second))
	return nil
}

var (
	scriptName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	scriptArg  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@/=+-]{0,199}$`)
	nodeName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)
)

// decode reads a method as the database has it.
func decode(kind string, params json.RawMessage) (Method, error) {
	var m Method
	if len(params) > 0 {
		if err := json.Unmarshal(params, &m); err != nil {
			return m, problem.Refuse("params", "set it again: weir.set_wake", "cannot be read: %v", err)
		}
	}
	m.Kind = kind
	return m, nil
}

// check refuses methods that are invalid under every server configuration. The functions
// of each kind check the server's own rules.
func (m Method) check() error {
	has := map[string]bool{
		"mac": m.MAC != "", "broadcast": m.Broadcast != "", "interface": m.Interface != "",
		"url": m.URL != "", "script": m.Script != "", "args": len(m.Args) > 0,
	}
	fields, known := map[string][]string{
		"": {}, WOL: {"mac", "broadcast", "interface"}, HTTP: {"url"}, Script: {"script", "args"},
	}[m.Kind]
	if !known {
		return problem.Refuse("method", "choose wol, http or script", "%q is no way to wake a node", m.Kind)
	}
	for field, given := range has {
		if given && !slices.Contains(fields, field) {
			return problem.Refuse(field, "leave it out, or choose the method it belongs to", "does not belong to method %q", m.Kind)
		}
	}
	if t := time.Duration(m.Timeout); t != 0 && (t < 5*time.Second || t > time.Hour) {
		return problem.Refuse("timeout", "give 5 s to 1 h", "%s is too short or too long", t)
	}
	if s := m.SleepAfter; s != 0 && (s < time.Minute || s > 30*24*time.Hour || m.Kind == "") {
		return problem.Refuse("sleep_after", "give a minute to 30 days, together with a method", "%s would leave the node asleep, or never let it sleep", s)
	}
	return nil
}

// checkScript refuses every name that is not a plain file name, and arguments that a
// program could take for an option.
func (m Method) checkScript() error {
	if !scriptName.MatchString(m.Script) || strings.Contains(m.Script, "..") {
		return problem.Refuse("script", "give the name of a file in the server's folder of wake scripts: letters, digits, dot, dash and underscore", "%q is not a name", m.Script)
	}
	if len(m.Args) > 16 {
		return problem.Refuse("args", "give at most 16", "%d are too many", len(m.Args))
	}
	for i, arg := range m.Args {
		if !scriptArg.MatchString(arg) {
			return problem.Refuse(fmt.Sprintf("args[%d]", i), "use letters, digits and _.:@/=+-, and begin with one of the first two or an underscore", "%q is not a plain word", arg)
		}
	}
	return nil
}
