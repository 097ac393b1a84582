// Package vault keeps the secrets of tasks: named, sealed in the database, opened only
// for a live lease, and masked in the output of work.
//
//	key file (0600) ──┐
//	                  ▼
//	Put ──► AES-256-GCM ──► weir.secrets(sealed, key_id, version)
//	                  │
//	Open ◄────────────┘        name and version are sealed in with the value: a
//	                           row cannot be passed off as another one
//
// The key is not in the database, and the database is not beside the key: one of them
// without the other reveals no secret. Losing the key file loses the secrets.
//
// # Rotation
//
// The file has one key a line, the newest first. The first one seals, all of them open.
// To rotate: [AddKey], copy the file to all servers, [Vault.Rotate], and then remove the
// old lines. A vault that follows its file ([Vault.Follow]) sees each of these steps
// without a restart.
//
// # What is never written
//
// No value is in the timeline, a log line, an error, or an argument of a process. Events
// of the kind "secret" record who set or removed which name. The output of a task goes
// through a [Mask] first: it replaces values, and the forms in which programs usually
// print them, with ***.
package vault
