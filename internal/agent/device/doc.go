// Package device finds the devices of a PC.
//
//	devices.yaml ──► File ────┐
//	a program ─────► Command ─┼──► Source.List ──► Listing ──► agent ──► report
//	adb devices -l ► ADB ─────┘        │
//	                                   └──► error: the devices are unknown
//
// The contract:
//
//   - A listing is complete: a device that is not in it is not attached. A source that
//     could not look returns an error instead, and the agent then reports nothing. So a
//     broken cable means that a device is gone, but a broken file, a failing program or a
//     hanging adb does not.
//   - A device is known by the serial of its hardware. Its address may change from one
//     listing to the next.
//   - The output of sources is never trusted: it is bounded in size and time, checked
//     field by field, and never passed to a shell.
//
// Phones are not needed to try any of this: package simulate is a source too.
package device
