package device

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

// howto shows the form of a file of devices.
const howto = "write it so: devices: [{serial: R58M123ABC, target: \"192.168.1.20:5555\", hub: hub-1, labels: {model: pixel-7}}]"

var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// parseYAML reads a file of devices. Each error names its line, its field and what to do.
func parseYAML(path string, text []byte) (Listing, error) {
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		// An empty file is more likely a mistake than a lab without devices.
		return Listing{}, fault(path, 0, "devices", howto+"; a PC without any has devices: []", "the file is empty")
	case err != nil:
		line, what := 0, err.Error()
		if m := lineOf.FindStringSubmatch(what); m != nil {
			line, _ = strconv.Atoi(m[1]) // no number is 0
			what = m[2]
		}
		return Listing{}, fault(path, line, "", howto, "it is no YAML: %s", what)
	}
	root := followed(document.Content[0])
	list := root
	if root.Kind == yaml.MappingNode {
		list = nil
		for i := 0; i+1 < len(root.Content); i += 2 {
			key := root.Content[i]
			if key.Value != "devices" {
				return Listing{}, fault(path, key.Line, key.Value, howto, "there is no such field here")
			}
			list = followed(root.Content[i+1])
		}
	}
	if list == nil || list.Kind != yaml.SequenceNode {
		return Listing{}, fault(path, root.Line, "devices", howto, "expected a list of devices")
	}
	devices := make([]node.Device, 0, len(list.Content))
	lines := map[string]int{}
	for i, item := range list.Content {
		d, err := parseItem(path, fmt.Sprintf("devices[%d]", i), followed(item))
		if err != nil {
			return Listing{}, err
		}
		if first := lines[d.Serial]; first > 0 {
			return Listing{}, fault(path, item.Line, fmt.Sprintf("devices[%d].serial", i), "give each device the serial of its own hardware", "%s stands in line %d already", d.Serial, first)
		}
		lines[d.Serial] = item.Line
		devices = append(devices, d)
	}
	return listing(devices, nil)
}

// parseItem reads one device: a mapping, or a serial alone.
func parseItem(path, at string, item *yaml.Node) (d node.Device, err error) {
	switch item.Kind {
	case yaml.ScalarNode:
		d.Serial = item.Value
		return d, checked(path, at, item, map[string]int{}, d)
	case yaml.MappingNode:
	default:
		return d, fault(path, item.Line, at, howto, "expected a device")
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], followed(item.Content[i+1])
		field := at + "." + key.Value
		if lines[key.Value] > 0 {
			return d, fault(path, key.Line, field, "leave one out", "it stands in line %d already", lines[key.Value])
		}
		lines[key.Value] = key.Line
		texts := map[string]*string{"serial": &d.Serial, "target": &d.Target, "hub": &d.Hub}
		switch text := texts[key.Value]; {
		case key.Value == "labels":
			if d.Labels, err = parseLabels(path, field, value); err != nil {
				return d, err
			}
		case text == nil:
			return d, fault(path, key.Line, field, "a device has serial, target, hub and labels", "there is no such field")
		case value.Kind != yaml.ScalarNode || value.Tag == "!!null":
			return d, fault(path, value.Line, field, "write "+key.Value+": TEXT", "expected text")
		default:
			*text = value.Value
		}
	}
	return d, checked(path, at, item, lines, d)
}

func parseLabels(path, at string, value *yaml.Node) (map[string]string, error) {
	if value.Kind != yaml.MappingNode {
		return nil, fault(path, value.Line, at, "write labels: {model: pixel-7}", "expected names and values")
	}
	labels := map[string]string{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, text := value.Content[i], followed(value.Content[i+1])
		if text.Kind != yaml.ScalarNode {
			return nil, fault(path, text.Line, at+"."+key.Value, "write labels: {model: pixel-7}", "the value of a label is text")
		}
		labels[key.Value] = text.Value
	}
	return labels, nil
}

// checked finds the line of the field for which a device is refused.
func checked(path, at string, item *yaml.Node, lines map[string]int, d node.Device) error {
	err := d.Check()
	if err == nil {
		return nil
	}
	p := problem.Explain(err)
	line := item.Line
	for field, in := range lines {
		if p.Field == field || len(p.Field) > len(field) && p.Field[:len(field)+1] == field+"." {
			line = in
		}
	}
	return fault(path, line, at+"."+p.Field, p.Next, "%s", p.Sentence())
}

// followed returns the value that an alias refers to.
func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
