package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/node"
)

// arguments puts the device into a command: {serial} and {target} are replaced by those
// of the device. They are allowed in arguments that are one word, such as
// --device={serial}. An argument with white space is probably a line for a shell, in
// which a name that another party chose would become part of a program. Such a line uses
// the environment variables instead.
func arguments(argv []string, d node.Device) ([]string, error) {
	filled := slices.Clone(argv)
	put := strings.NewReplacer("{serial}", d.Serial, "{target}", d.Reach())
	for i, argument := range filled {
		text := put.Replace(argument)
		if text == argument {
			continue
		}
		if strings.ContainsAny(argument, " \t\r\n") {
			return nil, &refused{fmt.Errorf("argv[%d]: {serial} and {target} stand in an argument that is one word; in a script read $WEIR_DEVICE_SERIAL and $WEIR_DEVICE_TARGET", i)}
		}
		filled[i] = text
	}
	return filled, nil
}
