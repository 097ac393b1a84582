package httpapi

import "github.com/weirhq/weir/internal/auth"

// fleetRoutes are about devices, the PCs that they hang on, and jobs for them.
func fleetRoutes() []Route {
	return []Route{
		{get, "/fleet/jobs", auth.Read, "fleet", Granted, "List fleet jobs, newest first", handle((*API).listFleet)},
		{post, "/fleet/jobs", auth.Submit, "fleet", Granted, "Submit a fleet job. It waits until it is the oldest", large(creates(handle((*API).submitFleet)))},
		{post, "/fleet/preview", auth.Submit, "fleet", Granted, "Say which devices a fleet job would take, and which not and why; nothing is submitted", large(handle((*API).previewFleet))},
		{get, "/fleet/jobs/{job}", auth.Read, "fleet", Granted, "Show a fleet job with its spec", handle((*API).showFleet)},
		{get, "/fleet/jobs/{job}/units", auth.Read, "fleet", Granted, "List the runs that a fleet job wants, by device and round", handle((*API).fleetUnits)},
		{get, "/fleet/jobs/{job}/why", auth.Read, "fleet", Granted, "Say why a fleet job is not further, device by device", handle((*API).whyFleet)},
		{post, "/fleet/jobs/{job}/cancel", auth.Command, "fleet", Granted, "Cancel what is left of a fleet job; what runs is asked to stop", handle((*API).cancelFleet)},
		{post, "/fleet/jobs/{job}/rerun", auth.Submit, "fleet", Granted, "Run a fleet job again, as a new one: on the devices on which it was not done, or on all", creates(handle((*API).rerunFleet))},
		{get, "/fleet/slots", auth.Read, "fleet", Granted, "List what devices do now, by PC", handle((*API).allSlots)},
		{get, "/fleet/policy", auth.Read, "fleet", Granted, "Show what holds for all of the fleet", handle((*API).showPolicy)},
		{put, "/fleet/policy", auth.Manage, "fleet", Granted, "Change it: how devices are judged, the health task, overlap, slots", handle((*API).setPolicy)},

		{get, "/devices", auth.Read, "device", Granted, "List devices", handle((*API).listDevices)},
		{get, "/devices/{serial}", auth.Read, "device", Granted, "Show a device: presence, health, what runs on it, and why it gets no work", handle((*API).showDevice)},
		{get, "/devices/{serial}/log", auth.Read, "device", Granted, "List what became of a device, newest first", handle((*API).deviceLog)},
		{get, "/devices/{serial}/units", auth.Read, "device", Granted, "List the latest runs on a device, newest first", handle((*API).deviceUnits)},
		{post, "/devices/{serial}/maintain", auth.Command, "device", Granted, "Take a device out of the schedule for work on it", handle((*API).maintainDevice)},
		{post, "/devices/{serial}/release", auth.Command, "device", Granted, "Give a device back to the schedule; where there is a health task, it has to pass that first", handle((*API).releaseDevice)},
		{post, "/devices/{serial}/quarantine", auth.Command, "device", Granted, "Put a device out, as a run that failed for good does", handle((*API).quarantineDevice)},
		{post, "/devices/{serial}/retire", auth.Command, "device", Granted, "Take a device out for good", handle((*API).retireDevice)},

		{get, "/pcs", auth.Read, "pc", Granted, "List PCs with their slots and devices", handle((*API).listPCs)},
		{get, "/pcs/{pc}", auth.Read, "pc", Granted, "Show a PC", handle((*API).showPC)},
		{get, "/pcs/{pc}/slots", auth.Read, "pc", Granted, "List what the devices of a PC do now", handle((*API).slotsOfPC)},
		{put, "/pcs/{pc}/slots", auth.Manage, "pc", Granted, "Say how many devices of a PC may work at once", handle((*API).setSlots)},
	}
}
