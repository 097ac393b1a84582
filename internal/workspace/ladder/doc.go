// Package ladder decides what is to be done with a workspace. It is pure: it looks at
// what was seen and at what is wanted, and says what comes next. It knows no database,
// no clock, no engine.
//
//	                  PROVISIONING                     STARTING
//	PENDING ─────────────────────────────▶ STANDBY ──────────────▶ RUNNING
//	   │ CREATE_EMPTY_ARCHIVE            ▲    │  ◀────────────────    │
//	   ▼                       RESTORING │    │ ARCHIVING   STOPPING
//	ARCHIVED ────────────────────────────┘    │
//	   ▲───────────────────────────────────────┘        any ── DELETING ──▶ DELETED
//
// Judge turns what was seen into conditions and a phase. Decide adds what is wanted and
// what is under way, and answers with one step: nothing, begin an operation, go on with
// it, note that it is complete, fail for a reason, or tidy up what somebody left behind.
//
// # Rules that hold for every answer
//
//   - One rung at a time, and never two ways at once.
//   - Nothing begins while something is under way.
//   - An operation is complete when that was seen, not when a call returned.
//   - A volume that is older than the archive is not the home, as long as that is there.
//   - A volume is made empty only where no home has ever been.
//   - A home is brought back from an archive only if that archive is the newest state of
//     it that anybody has written. Otherwise a person decides: DataLost.
//   - A volume goes away only after the archive of this very operation was verified, and
//     nobody has mounted the volume since that archive was begun.
//   - An error that will not heal by itself stands until a person clears it.
package ladder
