package wire

import "github.com/weirhq/weir/internal/node"

// Fault is why a node does not claim a service at present.
type Fault struct {
	Service   string `json:"service" minLength:"1" maxLength:"200"`
	Fault     string `json:"fault" enum:"no_driver,engine_away,disk_full,folder_gone,no_memory"`
	Message   string `json:"message" maxLength:"1000"`
	RetryInMS int64  `json:"retry_in_ms,omitempty" minimum:"0" maximum:"86400000" doc:"When the node claims the service again; none: when what is broken answers."`
}

// Faults is everything that is broken on a node.
type Faults struct {
	Faults []Fault `json:"faults" maxItems:"1000"`
}

// FaultsOf converts faults for sending.
func FaultsOf(faults []node.Fault) Faults {
	return Faults{each(faults, func(f node.Fault) Fault { return Fault{f.Service, f.Fault, f.Message, upward(f.RetryIn)} })}
}

// Node converts the faults for the server.
func (f Faults) Node() []node.Fault {
	return each(f.Faults, func(f Fault) node.Fault {
		return node.Fault{Service: f.Service, Fault: f.Fault, Message: f.Message, RetryIn: span(f.RetryInMS)}
	})
}
