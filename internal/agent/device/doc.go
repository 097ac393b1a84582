// Package device finds the devices of a PC.
//
//	devices.yaml ──► File ────┐
//	a program ─────► Command ─┼──► Source.List ──► Listing ──► agent ──► report
//	adb devices -l ► ADB ─────┘        │
//	                                   └──► error: nobody knows
//
// The contract:
//
//   - A listing is whole: what is not in it is not there. A source that could not
//     look returns an error instead, and the agent then reports nothing. So a
//     broken cable is a device that is gone, and a broken file, a program that
//     fails or an adb that hangs is not.
//   - A device is known by the serial of its hardware. Where it is reached may
//     change from one listing to the next.
//   - What sources print is never trusted: it is bounded in size and time, checked
//     field by field, and no shell reads it.
//
// Phones are not needed to try any of this: package simulate is a source too.
package device
