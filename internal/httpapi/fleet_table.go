package httpapi

import (
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/fleet"
)

// fleetRoutes are about devices, the PCs that they are attached to, and jobs for them.
func fleetRoutes() []Route {
	return []Route{
		lists(fleet.List),
		makes(fleet.Create),
		described(fleet.Foresee),
		described(fleet.Show),
		lists(fleet.ListUnits),
		lists(fleet.ListResults),
		described(fleet.ListCases),
		described(fleet.Explain),
		described(fleet.Cancel),
		makes(fleet.Rerun),
		described(fleet.ListSlots),
		described(fleet.ShowPolicy),
		described(fleet.ChangePolicy),

		lists(fleet.ListDevices),
		described(fleet.ShowDevice),
		described(fleet.ListDeviceLog),
		described(fleet.ListDeviceUnits),
		described(fleet.ShowDeviceHistory),
		described(fleet.ShowDeviceUsage),
		described(fleet.Maintain),
		described(fleet.Reserve),
		described(fleet.Release),
		described(fleet.Quarantine),
		described(fleet.Retire),
		{get, "/devices/{serial}/forward", auth.Submit, "forward", Granted, "Reach a port of a device: a WebSocket that carries connections to it through the agent of its PC", streamed(raw("application/octet-stream", (*API).deviceForward, forwardParams...))},

		lists(fleet.ListPCs),
		described(fleet.ShowPC),
		described(fleet.ListPCSlots),
		described(fleet.ShowPCUsage),
		described(fleet.SetSlots),
	}
}
