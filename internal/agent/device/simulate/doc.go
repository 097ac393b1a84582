// Package simulate is a lab without phones: a source of devices, and the driver
// that runs attempts on them inside the agent.
//
//	            ┌──► List: the devices that are plugged in at this moment
//	Config ──► Lab
//	            └──► Start ──► steps, ::progress, ::result ──► exit code
//	                             │
//	                             └── fails, hangs, loses its device: by the rates
//
// Nothing else of Weir knows that a device is simulated: reports, leases, kills,
// logs and results take the way they always take. So a demo, a test and a
// measurement of load are real up to the cable.
//
// What happens is decided by the seed: the nth attempt on a device has the same
// fate in every life of a lab with that seed, and a device flaps at the same
// minutes of it.
package simulate
