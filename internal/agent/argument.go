package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
)

// aim sets on which device the work runs, with its current address: a set-up may change
// that.
func (at *attempt) aim(w *driver.Work) (err error) {
	if at.Device == nil {
		return nil
	}
	here := at.agent.where(*at.Device)
	w.Device = &here
	w.Run.Argv, err = arguments(at.run.Argv, here)
	return err
}

// arguments puts the device into a command: {serial} and {target} are replaced by those
// of the device, where [node.CheckArguments] allows it.
func arguments(argv []string, d node.Device) ([]string, error) {
	if p := node.CheckArguments("argv", argv); p != nil { // plain SQL can submit what the server would refuse
		return nil, &refused{fmt.Errorf("%s: %s; %s", p.Field, p.What, p.Next)}
	}
	filled := slices.Clone(argv)
	put := strings.NewReplacer("{serial}", d.Serial, "{target}", d.Reach())
	for i, argument := range filled {
		filled[i] = put.Replace(argument)
	}
	return filled, nil
}
