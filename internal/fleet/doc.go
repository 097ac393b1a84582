// Package fleet runs jobs on devices that are attached to PCs, on the engine.
//
// A PC is a node of the engine that reports devices. A fleet job wants units: one per
// device and round, or a number that any device may serve. A unit that is served has a
// task of the engine, which is made when a PC asks for work and never before:
//
//	Submit ──► waiting ──► ACTIVE (one in each lane; the oldest) ──► ended
//	             units are made here ─┘
//
//	PC ── report ──► which devices are there
//	 │
//	 └─── claim ───► under the PC's lock: min(slots, eligible) − running
//	                  1. health tasks that are due
//	                  2. retries of its devices
//	                  3. units of the ACTIVE jobs      unit ──► task, RUNNING at once
//	                                                             │
//	      done · failed attempt ──► retry (3) ──► FAILED_FINAL ◄─┘ lease, deadline 20 min
//	                                                  │
//	                 the same transaction, by a trigger at commit:
//	                 unit · health of the device · breaker of the job · next ACTIVE
//
// Whether a device, or a unit, can be served has one answer, and weir._device_answer and
// weir._fleet_answer give it: now, later by itself, only after a person has acted, or
// never. How long a job lingers, the target of a PC, why and the doctor read it.
//
// A device has two axes. Presence: online, missing for less than 30 s, offline. Health:
// good, unknown, suspect, quarantined, maintenance, retired. A device is eligible when it
// is online and good, suspect, or unknown where no health task is defined.
package fleet
