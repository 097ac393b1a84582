package ladder_test

import (
	"fmt"
	"testing"

	"github.com/weirhq/weir/internal/workspace/ladder"
)

func TestPhaseIsTheFirstThatFits(t *testing.T) {
	volume := ladder.Seen{Volume: true, Marker: ladder.Fresh}
	running := ladder.Seen{Volume: true, Marker: ladder.Fresh, Container: true, Ready: true}
	kept := ladder.Record{ArchiveKey: "k"}
	made := ladder.Record{ArchiveKey: "k", ArchiveGeneration: 4, Generation: 4, ArchiveOf: 3}
	for name, c := range map[string]struct {
		record ladder.Record
		seen   ladder.Seen
		want   ladder.Phase
	}{
		"nothing":                        {want: ladder.Pending},
		"volume":                         {seen: volume, want: ladder.Standby},
		"volume that is not filled":      {seen: ladder.Seen{Volume: true}, want: ladder.Pending},
		"the same, with an archive":      {kept, ladder.Seen{Volume: true, Archive: true}, ladder.Archived},
		"container and volume":           {seen: running, want: ladder.Running},
		"container that does not answer": {seen: ladder.Seen{Volume: true, Marker: "k", Container: true}, want: ladder.Standby},
		"container without volume":       {seen: ladder.Seen{Container: true, Ready: true}, want: ladder.Error},
		"archive":                        {kept, ladder.Seen{Archive: true}, ladder.Archived},
		"archive that has gone":          {kept, ladder.Seen{}, ladder.Pending},
		"what the archive was made of":   {made, ladder.Seen{Volume: true, Marker: ladder.Fresh, Mounts: 3, Archive: true}, ladder.Archived},
		"the same, and that has gone":    {made, ladder.Seen{Volume: true, Marker: ladder.Fresh, Mounts: 3}, ladder.Standby},
		"an older one, and that is gone": {made, ladder.Seen{Volume: true, Marker: ladder.Fresh, Mounts: 2}, ladder.Pending},
		"error that stands":              {ladder.Record{Error: ladder.Timeout}, running, ladder.Error},
		"error that may heal":            {ladder.Record{Error: ladder.ActionFailed}, running, ladder.Running},
		"deleted, something left":        {ladder.Record{DeletedAt: true}, running, ladder.Deleting},
		"deleted in error":               {ladder.Record{DeletedAt: true, Error: ladder.DataLost}, volume, ladder.Deleting},
		"deleted, an archive left":       {ladder.Record{DeletedAt: true, ArchiveKey: "k"}, ladder.Seen{Archive: true}, ladder.Deleted},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := ladder.Judge(c.record, c.seen); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// every calls f with each record and each thing that may be seen.
func every(f func(ladder.Record, ladder.Seen)) {
	truth := []bool{false, true}
	for _, desired := range ladder.Wantable {
		for _, operation := range ladder.Operations {
			for _, reason := range []ladder.Reason{"", ladder.ActionFailed, ladder.DataLost} { // none, one that may heal, one that will not
				for _, key := range []string{"", "k"} {
					for _, had := range truth {
						for n := range int64(9) {
							generation, mounted, of := n/3, n%3/2, min(n%3-1, 0)
							r := ladder.Record{Desired: desired, DeletedAt: desired == ladder.Deleted, Operation: operation, ArchiveKey: key, ArchiveGeneration: 1, Generation: generation, Mounted: mounted, ArchiveOf: of, HadHome: had, Error: reason}
							for _, marker := range []string{"", ladder.Fresh, "k", "other"} {
								for mounts := range int64(3) {
									for bits := range 64 {
										s := ladder.Seen{Container: bits&1 > 0, Ready: bits&2 > 0, Volume: bits&4 > 0, Marker: marker, Mounts: mounts, Archive: bits&8 > 0, OpArchive: bits&16 > 0}
										if bits&32 > 0 {
											s.ImageFailed = "no such image"
										}
										f(r, s)
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// home says what the home is: a volume that is whole, that nobody has used after it, and
// newer than the archive, or what the archive was made of if that has gone.
func home(r ladder.Record, s ladder.Seen) bool {
	return s.Volume && s.Marker != "" && s.Mounts >= r.Mounted && (s.Mounts >= r.ArchiveGeneration || !s.Archive && s.Mounts == r.ArchiveOf)
}

var from = map[ladder.Operation]ladder.Phase{
	ladder.Provisioning: ladder.Pending, ladder.CreateEmptyArchive: ladder.Pending, ladder.Restoring: ladder.Archived,
	ladder.Starting: ladder.Standby, ladder.Archiving: ladder.Standby, ladder.DeletingAll: ladder.Deleting,
}

// Every answer to everything that can be: the rules of the package.
func TestRulesHoldForEveryAnswer(t *testing.T) {
	n := 0
	every(func(r ladder.Record, s ladder.Seen) {
		n++
		_, phase, step := ladder.Decide(r, s)
		wrong := func(rule string) { t.Fatalf("%s:\n%+v\n%+v\n%s %+v", rule, r, s, phase, step) }
		underWay := r.Operation != ladder.None
		switch step.Act {
		case ladder.Begin:
			switch {
			case underWay:
				wrong("something begins while something is under way")
			case phase == ladder.Error || phase == ladder.Deleted:
				wrong("something begins in a phase that is an end")
			case step.Operation == ladder.Stopping && phase != ladder.Running && !((phase == ladder.Standby || phase == ladder.Archived) && s.Container):
				wrong("what does not run is stopped")
			case step.Operation != ladder.Stopping && from[step.Operation] != phase:
				wrong("an operation begins on a rung that is not its own")
			case step.Operation == ladder.Provisioning && r.HadHome:
				wrong("an empty home takes the place of one that was")
			case step.Operation == ladder.Restoring && (!s.Archive || r.Generation > r.ArchiveGeneration):
				wrong("an archive that is not the newest state is brought back")
			case step.Operation == ladder.Archiving && s.Container:
				wrong("a home in use is archived")
			case (step.Operation == ladder.Archiving || step.Operation == ladder.Starting) && !home(r, s):
				wrong("a volume that is older than the archive passes for the home")
			case r.Error.Terminal() && step.Operation != ladder.DeletingAll:
				wrong("an error that stands is forgotten")
			}
		case ladder.Continue, ladder.Complete:
			if !underWay || step.Operation != r.Operation {
				wrong("another operation goes on")
			}
			if (step.Act == ladder.Complete) != complete(r, s) {
				wrong("what was seen and what is called complete are not the same")
			}
		case ladder.Fail:
			if !step.Reason.Terminal() || step.Why == "" {
				wrong("a failure for good has no reason that stands, or no words")
			}
			if underWay && complete(r, s) {
				wrong("what is complete fails")
			}
		case ladder.Tidy:
			if underWay || phase != ladder.Archived || r.Desired != ladder.Archived || !s.Archive || !s.Volume || home(r, s) || s.Container || r.Generation > r.ArchiveGeneration {
				wrong("a volume is taken away that may be the home, or that somebody uses")
			}
		case ladder.Rest:
			if underWay {
				wrong("an operation is forgotten")
			}
			if phase == ladder.Archived && s.Volume {
				wrong("what was left behind stays")
			}
			if level, rung := r.Desired.Level(); rung && phase != ladder.Error {
				if at, _ := phase.Level(); at != level && !(phase == ladder.Pending && level == 0) {
					wrong("nothing is done, and what is wanted is not there")
				}
			}
		}
	})
	t.Logf("%d answers", n)
}

// complete says it as the specification does.
func complete(r ladder.Record, s ladder.Seen) bool {
	switch r.Operation {
	case ladder.Provisioning:
		return home(r, s)
	case ladder.Restoring:
		return home(r, s) && s.Marker == r.ArchiveKey
	case ladder.Starting:
		return home(r, s) && s.Container && s.Ready
	case ladder.Stopping:
		return !s.Container
	case ladder.Archiving:
		return !s.Volume && !s.Container && s.OpArchive && s.Archive && r.ArchiveGeneration == r.Generation
	case ladder.CreateEmptyArchive:
		return s.OpArchive && s.Archive
	case ladder.DeletingAll:
		return !s.Container && !s.Volume
	}
	return false
}

// The reasons that the specification calls terminal, and that tries are used up.
func TestWhatWillNotHeal(t *testing.T) {
	for _, reason := range ladder.Reasons {
		if want := reason != ladder.ActionFailed && reason != ladder.Unreachable; reason.Terminal() != want {
			t.Errorf("%s: %v", reason, reason.Terminal())
		}
	}
	if ladder.Reason("").Terminal() {
		t.Error("nothing stands")
	}
}

// The phase, as the specification lists it: the first that fits.
func TestPhaseOfEverythingThatCanBe(t *testing.T) {
	every(func(r ladder.Record, s ladder.Seen) {
		c, got := ladder.Judge(r, s)
		home := home(r, s)
		want := ladder.Pending
		switch left := s.Container || s.Volume; {
		case r.DeletedAt && left:
			want = ladder.Deleting
		case r.DeletedAt:
			want = ladder.Deleted
		case s.Container && !s.Volume, r.Error != "" && r.Error != ladder.ActionFailed && r.Error != ladder.Unreachable:
			want = ladder.Error
		case s.Container && s.Ready && home:
			want = ladder.Running
		case home:
			want = ladder.Standby
		case s.Archive && r.ArchiveKey != "":
			want = ladder.Archived
		}
		if got != want || c.Volume.Status != home || c.Container.Status != (s.Container && s.Ready) || c.Archive.Status != (s.Archive && r.ArchiveKey != "") {
			t.Fatalf("%s, want %s: %+v\n%+v\n%+v", got, want, c, r, s)
		}
		for _, one := range []ladder.Condition{c.Volume, c.Archive, c.Container, c.Healthy} {
			if one.Status == (one.Reason != "") {
				t.Fatalf("a condition that is not so says why, and one that is does not: %+v", c)
			}
		}
	})
}

// world does what operations are for, at once.
type world struct {
	r ladder.Record
	s ladder.Seen
}

func (w *world) act(op ladder.Operation) {
	switch op {
	case ladder.Provisioning:
		w.s.Volume, w.s.Marker, w.s.Mounts = true, ladder.Fresh, w.r.Generation
	case ladder.Restoring:
		w.s.Volume, w.s.Marker, w.s.Mounts = true, w.r.ArchiveKey, w.r.Generation
	case ladder.Starting:
		w.s.Container, w.s.Ready, w.s.Mounts = true, true, w.r.Generation
	case ladder.Stopping:
		w.s.Container, w.s.Ready = false, false
	case ladder.Archiving:
		w.r.ArchiveKey, w.r.ArchiveGeneration, w.s.Archive, w.s.OpArchive = fmt.Sprint("k", w.r.Generation), w.r.Generation, true, true
		w.s.Volume, w.s.Marker = false, ""
	case ladder.CreateEmptyArchive:
		w.r.ArchiveKey, w.r.ArchiveGeneration, w.s.Archive, w.s.OpArchive = "empty", w.r.Generation, true, true
	case ladder.DeletingAll:
		w.s.Container, w.s.Ready, w.s.Volume, w.s.Marker = false, false, false, ""
	}
}

func (w *world) turn() ladder.Step {
	_, _, step := ladder.Decide(w.r, w.s)
	switch step.Act {
	case ladder.Begin:
		w.r.Operation, w.s.OpArchive = step.Operation, false
		if step.Operation == ladder.Starting || step.Operation == ladder.Archiving {
			w.r.Generation++
		}
	case ladder.Continue:
		w.act(step.Operation)
	case ladder.Complete:
		w.r.Operation = ladder.None
		w.r.HadHome = w.r.HadHome || w.s.Volume || step.Operation == ladder.CreateEmptyArchive
	}
	return step
}

// From everywhere to everywhere: what is wanted comes about, by the shortest way.
func TestEveryWishIsReached(t *testing.T) {
	for _, first := range ladder.Wantable {
		for _, second := range ladder.Wantable {
			for _, third := range ladder.Wantable {
				w := &world{r: ladder.Record{Operation: ladder.None}}
				for _, wish := range []ladder.Phase{first, second, third} {
					if w.r.DeletedAt {
						break
					}
					w.r.Desired, w.r.DeletedAt = wish, wish == ladder.Deleted
					turns := 0
					for step := w.turn(); step.Act != ladder.Rest; step = w.turn() {
						if turns++; step.Act == ladder.Fail || turns > 9 {
							t.Fatalf("%s, %s, %s: %+v after %d turns: %+v", first, second, third, step, turns, w)
						}
					}
					if _, phase := ladder.Judge(w.r, w.s); phase != wish {
						t.Fatalf("%s, %s, %s: it is %s", first, second, third, phase)
					}
				}
			}
		}
	}
}

func TestWhatIsLostIsForAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		record ladder.Record
		seen   ladder.Seen
		why    string
	}{
		"no archive":          {ladder.Record{HadHome: true}, ladder.Seen{}, "the volume is gone, and there is no archive of it"},
		"older archive":       {ladder.Record{HadHome: true, ArchiveKey: "k", ArchiveGeneration: 1, Generation: 2}, ladder.Seen{Archive: true}, "the volume is gone; there is an archive, but the home was in use after that"},
		"archive gone":        {ladder.Record{HadHome: true, ArchiveKey: "k"}, ladder.Seen{}, "the volume is gone, and its archive has gone from the bucket"},
		"gone while archived": {ladder.Record{HadHome: true, Operation: ladder.Archiving}, ladder.Seen{}, "the volume is gone, and there is no archive of it"},
	} {
		t.Run(name, func(t *testing.T) {
			c.record.Desired = ladder.Running
			if _, _, step := ladder.Decide(c.record, c.seen); step.Act != ladder.Fail || step.Reason != ladder.DataLost || step.Why != c.why {
				t.Errorf("%+v", step)
			}
		})
	}
}
