package wire

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
)

// ForwardsWanted asks for the forwards of a PC.
type ForwardsWanted struct {
	Ports string `json:"ports" maxLength:"2000" doc:"The ports that the agent allows: 5555,8000-8010."`
	Wait  int    `json:"wait,omitempty" minimum:"0" maximum:"60" doc:"How many seconds to wait for one."`
}

// Forward is a forward that the agent should take up.
type Forward struct {
	ID     weir.ID `json:"id"`
	Serial string  `json:"serial" doc:"The device."`
	Port   int     `json:"port"`
}

// Forwards are those that wait.
type Forwards struct {
	Forwards []Forward `json:"forwards"`
}

// Node converts the answer for the agent.
func (f Forwards) Node() []node.Forward {
	return each(f.Forwards, func(f Forward) node.Forward { return node.Forward(f) })
}

// ForwardRefused is why an agent does not take up a forward.
type ForwardRefused struct {
	Why string `json:"why" maxLength:"500" doc:"For the person who asked."`
}
