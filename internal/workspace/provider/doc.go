// Package provider is the seam between workspaces and what runs them.
//
//	controller ──▶ Look                 what is there: containers and volumes, or an error
//	           ──▶ Provision, Restore   a volume that is not there, or not whole, becomes whole
//	           ──▶ Start, Stop          a container comes and goes; it never takes the volume with it
//	           ──▶ Archive              the volume as a stream, read where it is
//	           ──▶ Remove               the volume goes
//	proxy      ──▶ Dial                 the one way to a container
//
// # The contract
//
// Every call can be made again, after it succeeded, failed or was cut off, and whoever
// made it may have died meanwhile. A call that has returned proves nothing: the next
// Look does. A Look that could not see everything is an error, and never a list with
// less in it.
//
//   - A volume is whole when it has a marker, and that is written last. Until then it is
//     as good as not there.
//   - Provision and Restore leave a volume alone that is whole.
//   - Nothing but Remove takes a volume away, and Remove refuses while a container uses it.
//   - A volume knows how often it was mounted and what it was filled with. Whoever means
//     another state of it, such as a leader that was paused, is refused (ErrStale).
//   - A start that was ended, by Stop or because an archive has begun, does not come again.
//   - An archive of a volume that was mounted meanwhile is none.
//   - Dial leads into the container that runs, and nowhere else.
//   - What does not carry the name of this installation is not ours: it is not listed and
//     not touched.
//
// Package providertest holds this as a suite that every provider passes.
package provider
