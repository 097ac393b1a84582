package ladder_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir/internal/workspace/ladder"
)

// walker is a world in which things go wrong, and that knows what was written last. A
// volume and an archive hold a version of the home each; who runs writes a new one.
type walker struct {
	*testing.T
	*rand.Rand
	seed uint64
	r    ladder.Record
	s    ladder.Seen
	// written is the newest version of so many, volume and archive what those hold.
	written, versions, volume int
	archives                  map[string]int
	// filled are volumes that somebody has begun to make, and may be late with.
	filled []filled
	op     int
	trail  []line
}

// line is one of the diary, written out only if somebody reads it.
type line struct {
	format string
	args   []any
}

type filled struct {
	marker  string
	mounts  int64
	version int
}

func (w *walker) say(format string, args ...any) {
	w.trail = append(w.trail, line{format, args})
}

func (w *walker) lose(format string, args ...any) {
	w.Helper()
	for _, l := range w.trail[max(0, len(w.trail)-40):] {
		w.Logf(l.format, l.args...)
	}
	w.Fatalf("seed %d: "+format, append([]any{w.seed}, args...)...)
}

func (w *walker) opKey() string { return fmt.Sprint("op", w.op) }

// look is what is seen, as a controller would.
func (w *walker) look() ladder.Seen {
	s := w.s
	_, s.Archive = w.archives[w.r.ArchiveKey]
	s.Archive = s.Archive && w.r.ArchiveKey != ""
	_, s.OpArchive = w.archives[w.opKey()]
	return s
}

// act does part of an operation, or all of it.
func (w *walker) act() {
	whole := w.IntN(3) > 0
	switch w.r.Operation {
	case ladder.Provisioning:
		if w.s.Volume && w.s.Marker != "" {
			return // a provider leaves it alone
		}
		if w.written > 0 && !w.gaveUp() {
			w.lose("an empty home takes the place of version %d", w.written)
		}
		w.s.Volume, w.s.Marker, w.volume = true, "", 0
		if whole {
			w.s.Marker, w.s.Mounts = ladder.Fresh, w.r.Generation
		}
	case ladder.Restoring:
		if w.s.Marker == w.r.ArchiveKey && !ladder.Leftover(w.r, w.s) {
			return
		}
		version, there := w.archives[w.r.ArchiveKey]
		if !there {
			return
		}
		if version != w.written {
			w.lose("version %d comes back, and %d was written", version, w.written)
		}
		w.s.Volume, w.s.Marker, w.volume = true, "", version
		if whole {
			w.s.Marker, w.s.Mounts = w.r.ArchiveKey, w.r.Generation
		}
	case ladder.Starting:
		w.s.Container, w.s.Ready, w.s.Mounts = true, whole, w.r.Generation
		if w.volume != w.written {
			w.lose("it starts with version %d, and %d was written", w.volume, w.written)
		}
		w.versions++
		w.written, w.volume = w.versions, w.versions
	case ladder.Stopping:
		w.s.Container, w.s.Ready = false, false
	case ladder.Archiving:
		if w.r.ArchiveKey != w.opKey() {
			w.archives[w.opKey()] = w.volume
			if !whole {
				return
			}
			w.r.ArchiveKey, w.r.ArchiveGeneration, w.r.ArchiveOf = w.opKey(), w.r.Generation, w.s.Mounts
		}
		if w.IntN(3) > 0 {
			w.s.Volume, w.s.Marker = false, ""
		}
	case ladder.CreateEmptyArchive:
		w.archives[w.opKey()] = 0
		w.r.ArchiveKey, w.r.ArchiveGeneration, w.r.ArchiveOf = w.opKey(), w.r.Generation, ladder.Nothing
	case ladder.DeletingAll:
		w.s.Container, w.s.Ready = false, false
		if whole {
			w.s.Volume, w.s.Marker = false, ""
		}
	}
}

// gaveUp: a person has said that what was written is lost.
func (w *walker) gaveUp() bool { return !w.r.HadHome }

// mishap breaks something, now and then.
func (w *walker) mishap() {
	switch w.IntN(60) {
	case 0:
		w.s.Container, w.s.Ready = false, false
		w.say("the container dies")
	case 1:
		w.s.Container, w.s.Ready, w.s.Volume, w.s.Marker = false, false, false, ""
		w.say("the volume vanishes")
	case 2:
		delete(w.archives, w.r.ArchiveKey)
		w.say("the archive vanishes")
	case 3:
		w.s.Ready = false
		w.say("it does not answer")
	case 4:
		if !w.s.Volume && w.r.ArchiveGeneration > 0 && len(w.filled) > 0 {
			old := w.filled[w.IntN(len(w.filled))]
			w.s.Volume, w.s.Marker, w.s.Mounts, w.volume = true, old.marker, old.mounts, old.version
			w.say("somebody who was late leaves an old volume: %+v", old)
		}
	}
}

// person clears an error. If that is not enough, what is lost is given up: what is left of
// it counts, and an empty home only if there is nothing.
func (w *walker) person() {
	was := w.r.Error
	w.r.Error = ""
	c, _, step := ladder.Decide(w.r, w.look())
	if step.Reason == ladder.DataLost {
		version, there := w.archives[w.r.ArchiveKey]
		left := c.Volume.Reason == "Leftover"
		if there && version == w.written && w.r.Generation <= w.r.ArchiveGeneration {
			w.lose("version %d is given up, and in the archive: %+v %+v", w.written, w.r, w.s)
		}
		w.r.Generation++
		switch {
		case there:
			w.r.ArchiveGeneration, w.r.ArchiveOf, w.written = w.r.Generation, ladder.Nothing, version
		case left:
			w.r.ArchiveGeneration, w.r.ArchiveOf, w.r.Mounted, w.written = 0, ladder.Nothing, 0, w.volume
		default:
			w.r.ArchiveGeneration, w.r.ArchiveOf, w.written, w.r.HadHome = 0, ladder.Nothing, 0, false
		}
		w.say("a person gives up what is lost: version %d counts", w.written)
	}
	if was == ladder.DataLost && c.Volume.Status {
		w.written = w.volume // the person was told, and takes what has turned up
	}
	w.say("a person has seen to %s", was)
	if w.s.Container && !w.s.Volume {
		w.s.Container, w.s.Ready = false, false
	}
}

func (w *walker) turn() {
	c, phase, step := ladder.Decide(w.r, w.look())
	w.r.HadHome = w.r.HadHome || c.Volume.Status
	if w.s.Volume && w.s.Marker != "" {
		w.r.Mounted = max(w.r.Mounted, w.s.Mounts)
	}
	w.say("%s, wanted %s, %s: %+v %+v", phase, w.r.Desired, w.r.Operation, step, w.s)
	switch step.Act {
	case ladder.Begin:
		w.r.Operation = step.Operation
		w.op++
		switch step.Operation {
		case ladder.Starting, ladder.Archiving:
			w.r.Generation++
		case ladder.Provisioning:
			w.filled = append(w.filled, filled{ladder.Fresh, w.r.Generation, 0})
		case ladder.Restoring:
			w.filled = append(w.filled, filled{w.r.ArchiveKey, w.r.Generation, w.archives[w.r.ArchiveKey]})
		}
	case ladder.Continue:
		w.act()
	case ladder.Complete:
		w.r.Operation = ladder.None
		w.r.HadHome = w.r.HadHome || step.Operation == ladder.CreateEmptyArchive
	case ladder.Fail:
		w.r.Operation, w.r.Error = ladder.None, step.Reason
	case ladder.Tidy:
		if version, there := w.archives[w.r.ArchiveKey]; !there || version != w.written {
			w.lose("a volume is taken away, and the archive is of version %d and not %d", version, w.written)
		}
		w.s.Volume, w.s.Marker = false, ""
	case ladder.Rest:
	}
}

// Whatever goes wrong in whatever order: what was written last is what the next start
// finds, or a person has said that it is lost. And when things stop going wrong, what is
// wanted comes about.
func TestNothingThatWasWrittenIsReplaced(t *testing.T) {
	for seed := range uint64(1500) {
		w := &walker{T: t, Rand: rand.New(rand.NewPCG(seed, 7)), seed: seed, r: ladder.Record{Operation: ladder.None, Desired: ladder.Running}, archives: map[string]int{}}
		for range 200 {
			w.mishap()
			w.turn()
			switch {
			case w.r.Operation != ladder.None:
			case w.r.Error.Terminal() && w.IntN(3) == 0:
				w.person()
			case w.IntN(8) == 0:
				w.r.Desired = []ladder.Phase{ladder.Archived, ladder.Standby, ladder.Running}[w.IntN(3)]
			}
		}
		for range 60 {
			if w.r.Error.Terminal() && w.r.Operation == ladder.None {
				w.person()
			}
			w.turn()
		}
		if _, phase, step := ladder.Decide(w.r, w.look()); phase != w.r.Desired || step.Act != ladder.Rest {
			w.lose("it is %s and not %s: %+v", phase, w.r.Desired, step)
		}
		w.r.Desired, w.r.DeletedAt = ladder.Deleted, true
		for range 20 {
			w.turn()
		}
		if _, phase := ladder.Judge(w.r, w.look()); phase != ladder.Deleted {
			w.lose("it is %s and not gone", phase)
		}
	}
}
