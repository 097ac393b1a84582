// Package simulate is a lab without phones: a source of devices, and the driver that runs
// attempts on them inside the agent.
//
//	            ┌──► List: the devices that are plugged in at this moment
//	Config ──► Lab
//	            └──► Start ──► steps, ::progress, ::result ──► exit code
//	                             │
//	                             └── fails, hangs, loses its device: by the rates
//
// No other part of Weir knows that a device is simulated: reports, leases, kills, logs
// and results use the same code as for real devices. So a demo, a test and a load
// measurement are real up to the cable.
//
// The seed determines what happens: the nth attempt on a device has the same outcome in
// every lab with that seed, and a device flaps in the same minutes after the start of the
// lab.
package simulate
