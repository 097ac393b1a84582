package wire

import (
	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/node"
)

// Device is a device that is attached to a PC.
type Device struct {
	Serial string            `json:"serial" minLength:"1" maxLength:"128" doc:"Of the hardware: what the device is known by."`
	Target string            `json:"target,omitempty" maxLength:"256" doc:"How programs of the PC reach it at the moment. Absent: by its serial."`
	Hub    string            `json:"hub,omitempty" maxLength:"128" doc:"What it shares with others: when that fails, they are lost together."`
	Labels map[string]string `json:"labels,omitempty"`
}

// Devices is what a PC sees.
type Devices struct {
	Devices []Device `json:"devices" maxItems:"1000" doc:"All that are there: what is missing is not."`
	Slots   int      `json:"slots,omitempty" minimum:"0" maximum:"1000" doc:"How many may work at once. Absent: as it is known."`
	Blind   bool     `json:"blind,omitempty" doc:"The PC could not look: nothing is known of its devices."`
	Trouble string   `json:"trouble,omitempty" maxLength:"2000" doc:"Why it is blind, or which devices were left out."`
}

// DevicesOf converts the report for sending.
func DevicesOf(r node.DeviceReport) Devices {
	return Devices{each(r.Devices, func(d node.Device) Device { return Device(d) }), r.Slots, r.Blind, r.Trouble}
}

// Node converts the report for the server.
func (d Devices) Node() node.DeviceReport {
	return node.DeviceReport{Devices: each(d.Devices, func(d Device) node.Device { return node.Device(d) }), Slots: d.Slots, Blind: d.Blind, Trouble: d.Trouble}
}

// DeviceStop is an attempt that has lost its device.
type DeviceStop struct {
	Task    weir.ID `json:"task"`
	Attempt int     `json:"attempt"`
	Why     string  `json:"why,omitempty"`
}

// DeviceOrders are the answer to a report.
type DeviceOrders struct {
	Stop  []DeviceStop `json:"stop" doc:"Attempts of this node that must stop: their device is gone."`
	Slots int          `json:"slots,omitempty" doc:"How many of its devices may work at once."`
}

// DeviceOrdersOf converts the orders for sending.
func DeviceOrdersOf(o node.DeviceOrders) DeviceOrders {
	return DeviceOrders{each(o.Stop, func(s node.DeviceStop) DeviceStop { return DeviceStop(s) }), o.Slots}
}

// Node converts the orders for the agent.
func (o DeviceOrders) Node() node.DeviceOrders {
	return node.DeviceOrders{Stop: each(o.Stop, func(s DeviceStop) node.DeviceStop { return node.DeviceStop(s) }), Slots: o.Slots}
}
