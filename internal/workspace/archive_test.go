package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

// An archive counts for the operation that made it, of a volume that nobody has mounted
// since. Noted again it is the same.
func TestAnArchiveCountsForItsOperation(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	d.want(id, ladder.Archived)
	d.through(id, ladder.Stopping, ladder.Standby, 1)
	op := d.begin(id, ladder.Archiving)
	other := d.owner // some other id
	if d.archived(id, other, 1) {
		t.Error("an archive of another operation counts")
	}
	if d.archived(id, *op, 0) {
		t.Error("an archive of what was there before the last start counts")
	}
	if w := d.get(id); w.ArchiveKey != "" || w.ArchiveMounts != 0 {
		t.Errorf("%+v", w)
	}
	for range 2 {
		if !d.archived(id, *op, 1) {
			t.Error("the archive does not count")
		}
	}
	w := d.get(id)
	if w.ArchiveKey != d.key(id, *op) || w.ArchiveMounts != w.Mounts || w.Archive == nil || w.Archive.Format != 1 {
		t.Errorf("%+v", w)
	}
	if all, err := d.store.Archives(t.Context(), id); err != nil || len(all) != 1 || !all[0].Current || all[0].VerifiedAt == nil || all[0].Meta == nil {
		t.Errorf("%+v, %v", all, err)
	}
	// The volume is what the archive was made of: it is not the home any more.
	if !ladder.Leftover(ladder.Record{ArchiveGeneration: w.ArchiveMounts}, ladder.Seen{Volume: true, Marker: ladder.Fresh, Mounts: w.Mounted}) {
		t.Error("the volume is still the home")
	}
}

// An archive counts for the home as it was mounted last: one that was made of another
// mount is of another home, though nobody has seen that yet.
func TestAnArchiveCountsForItsMount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	d.want(id, ladder.Archived)
	d.through(id, ladder.Stopping, ladder.Standby, 1)
	op := d.begin(id, ladder.Archiving)
	for _, mounted := range []int64{0, 2} {
		if d.archived(id, *op, mounted) {
			t.Errorf("an archive of mount %d counts", mounted)
		}
	}
	if !d.archived(id, *op, 1) {
		t.Error("the archive does not count")
	}
}

// A start that comes in between voids the archive: before it was noted, and after.
func TestR10AStartInBetweenVoidsTheArchive(t *testing.T) {
	t.Parallel()
	for name, noted := range map[string]bool{"before it is noted": false, "after it was noted": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			id := d.running("one")
			d.want(id, ladder.Archived)
			d.through(id, ladder.Stopping, ladder.Standby, 1)
			// A start of a leader that was paused gets the number 2, and is late.
			d.want(id, ladder.Running)
			late := d.begin(id, ladder.Starting)
			d.end(id, late, ladder.Timeout, "nobody knows")
			_, err := d.store.Recover(t.Context(), id, "ann", "", false)
			d.ok(err)
			d.see(id, ladder.Standby, 1)
			d.want(id, ladder.Archived)
			op := d.begin(id, ladder.Archiving)
			if noted && !d.archived(id, *op, 1) {
				t.Fatal("the archive does not count")
			}
			d.see(id, ladder.Standby, 2)
			w := d.get(id)
			if w.Operation != ladder.None || w.Op != nil || w.OpStarted != nil || w.OpProgress != nil || w.Mounted != 2 {
				t.Errorf("it goes on: %+v", w)
			}
			if d.archived(id, *op, 1) || d.archived(id, *op, 2) {
				t.Error("an archive that is void counts")
			}
			if w.ArchiveMounts >= 2 {
				t.Errorf("what was mounted later passes for archived: %+v", w)
			}
			if ladder.Leftover(ladder.Record{ArchiveGeneration: w.ArchiveMounts}, ladder.Seen{Volume: true, Marker: ladder.Fresh, Mounts: 2}) {
				t.Error("the home passes for a leftover")
			}
			if got := d.events(id); got[len(got)-1] != "void" {
				t.Errorf("%v", got)
			}
			again := d.through(id, ladder.Archiving, ladder.Archived)
			if *again == *op || d.get(id).ArchiveKey != d.key(id, *again) {
				t.Error("the archive is under the same key")
			}
		})
	}
}

// A start that never came to mount anything does not keep the home from being archived.
func TestAStartThatNeverMountedIsNoObstacle(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.running("one")
	d.want(id, ladder.Standby)
	d.through(id, ladder.Stopping, ladder.Standby, 1)
	d.want(id, ladder.Running)
	d.end(id, d.begin(id, ladder.Starting), ladder.ImagePullFailed, "no such image")
	_, err := d.store.Recover(t.Context(), id, "ann", "", false)
	d.ok(err)
	d.see(id, ladder.Standby, 1)
	d.want(id, ladder.Archived)
	op := d.begin(id, ladder.Archiving)
	if !d.archived(id, *op, 1) {
		t.Fatal("it can never be archived")
	}
	d.see(id, ladder.Archived)
	d.end(id, op, "", "")
	// It comes back with a number of its own, which no late start has.
	d.want(id, ladder.Standby)
	w := d.get(id)
	d.through(id, ladder.Restoring, ladder.Standby, w.Mounts)
	if w := d.get(id); w.Mounted != w.Mounts || w.ArchiveMounts != w.Mounts {
		t.Errorf("%+v", w)
	}
	d.want(id, ladder.Running)
	d.through(id, ladder.Starting, ladder.Running, w.Mounts+1)
}

// What is lost is given up by a person alone, and only if it is lost.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	lose := func(name string, archived bool) (w string) {
		t.Helper()
		id := d.standing(name)
		if archived {
			d.want(id, ladder.Archived)
			d.through(id, ladder.Archiving, ladder.Archived)
			d.want(id, ladder.Standby)
			d.through(id, ladder.Restoring, ladder.Standby, d.get(id).Mounts)
		}
		d.want(id, ladder.Running)
		op := d.begin(id, ladder.Starting)
		phase := ladder.Pending
		if archived {
			phase = ladder.Archived
		}
		d.see(id, phase)
		d.end(id, op, ladder.DataLost, "the volume is gone")
		return id.String()
	}
	one, two := lose("one", false), lose("two", true)
	recover := `select weir.workspace_recover($1, 'ann', fresh => $2, archive => $3)`
	d.exec(recover, one, true, nil)
	var had bool
	if d.scan(&had, `select had_home from weir.workspaces where id = $1`, one); had {
		t.Error("what was given up is remembered: nothing can take its place")
	}
	var key string
	d.scan(&key, `select archive_key from weir.workspaces where id = $1`, two)
	d.refuses(problem.Invalid, recover, two, false, "workspaces/elsewhere")
	d.exec(recover, two, false, key)
	var same bool
	if d.scan(&same, `select had_home and archive_key = $2 and archive_generation = volume_generation from weir.workspaces where id = $1`, two, key); !same {
		t.Error("the archive is not what it comes back from")
	}
	// Not lost: nothing is given up.
	three := d.standing("three")
	d.end(three, d.begin(three, ladder.Stopping), ladder.Timeout, "it hangs")
	if p := d.refuses(problem.Conflict, recover, three, true, nil); !strings.Contains(p.What, "its home is there") {
		t.Errorf("%+v", p)
	}
	d.exec(recover, three, false, nil)
	// Not lost yet: it is still tried.
	five := d.create("five", ladder.Standby)
	d.end(five, d.begin(five, ladder.Provisioning), ladder.ActionFailed, "no space")
	d.refuses(problem.Conflict, recover, five, true, nil)
	d.exec(recover, five, false, nil)
	// An archive that is broken is given up with it.
	four := d.create("four", ladder.Archived)
	d.through(four, ladder.CreateEmptyArchive, ladder.Archived)
	d.want(four, ladder.Standby)
	d.end(four, d.begin(four, ladder.Restoring), ladder.ArchiveCorrupted, "another checksum")
	d.exec(recover, four, true, nil)
	if w := d.get(four); w.ArchiveKey != "" || w.HadHome || w.Error != "" {
		t.Errorf("%+v", w)
	}
	if got := d.events(four); !slices.Contains(got, "recovered") {
		t.Errorf("%v", got)
	}
}
