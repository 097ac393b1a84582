package ladder

// Act is what to do next.
type Act int

// The acts.
const (
	// Rest: there is nothing to do.
	Rest Act = iota
	// Begin the operation: note it first, then act.
	Begin
	// Continue the operation: act again, it is made for that.
	Continue
	// Complete: what the operation is for was seen.
	Complete
	// Fail for the reason, for good.
	Fail
	// Tidy: take a volume away that is not the home, for the archive is.
	Tidy
)

// Step is the answer.
type Step struct {
	Act       Act
	Operation Operation
	Reason    Reason
	// Why in words, for Fail.
	Why string
}

// Decide says what comes next.
func Decide(r Record, s Seen) (Conditions, Phase, Step) {
	c, phase := Judge(r, s)
	if r.Operation != None && r.Operation != "" {
		return c, phase, goOn(r, s, phase)
	}
	if phase == Error {
		if r.Error.Terminal() {
			return c, phase, Step{}
		}
		return c, phase, Step{Act: Fail, Reason: Reason(c.Healthy.Reason), Why: c.Healthy.Message}
	}
	return c, phase, begin(r, s, phase)
}

// goOn decides for an operation that is under way.
func goOn(r Record, s Seen, phase Phase) Step {
	switch {
	case done(r, s):
		return Step{Act: Complete, Operation: r.Operation}
	case phase == Error && r.Operation != DeletingAll:
		return Step{Act: Fail, Operation: r.Operation, Reason: ContainerWithoutVolume, Why: "it runs without its home"}
	case r.Operation == Starting && s.ImageFailed != "":
		return Step{Act: Fail, Operation: r.Operation, Reason: ImagePullFailed, Why: s.ImageFailed}
	case r.Operation == Restoring && !s.Archive:
		return Step{Act: Fail, Operation: r.Operation, Reason: DataLost, Why: "the archive has gone from the bucket"}
	case r.Operation == Starting && !whole(r, s), r.Operation == Archiving && !s.Volume, r.Operation == Provisioning && Leftover(r, s):
		return lost(r, s)
	}
	return Step{Act: Continue, Operation: r.Operation}
}

// done: what the operation is for was seen.
func done(r Record, s Seen) bool {
	switch r.Operation {
	case Provisioning:
		return whole(r, s)
	case Restoring:
		return whole(r, s) && s.Marker == r.ArchiveKey
	case Starting:
		return s.Container && s.Ready && whole(r, s)
	case Stopping:
		return !s.Container
	case Archiving:
		return !s.Container && !s.Volume && s.OpArchive && s.Archive && r.ArchiveGeneration == r.Generation
	case CreateEmptyArchive:
		return s.OpArchive && s.Archive
	case DeletingAll:
		return !s.Container && !s.Volume
	}
	return false
}

// begin decides where nothing is under way.
func begin(r Record, s Seen, phase Phase) Step {
	switch {
	case phase == Deleted:
		return Step{}
	case phase == Deleting:
		return Step{Act: Begin, Operation: DeletingAll}
	case phase == Pending && (r.HadHome || Leftover(r, s)), phase == Archived && r.Generation > r.ArchiveGeneration:
		return lost(r, s)
	case phase == Archived && s.Container, phase == Standby && s.Container && r.Desired != Running:
		return Step{Act: Begin, Operation: Stopping} // it runs and does not answer, or with what is not the home
	}
	want, rung := r.Desired.Level()
	if !rung {
		return Step{}
	}
	at, _ := phase.Level()
	switch {
	case at == want && phase == Archived && s.Volume:
		return Step{Act: Tidy}
	case at == want:
		return Step{}
	}
	up := want > at
	switch phase {
	case Pending:
		if r.Desired == Archived {
			return Step{Act: Begin, Operation: CreateEmptyArchive}
		}
		return Step{Act: Begin, Operation: Provisioning}
	case Archived:
		if up {
			return Step{Act: Begin, Operation: Restoring}
		}
	case Standby:
		if up {
			return Step{Act: Begin, Operation: Starting}
		}
		return Step{Act: Begin, Operation: Archiving}
	case Running:
		return Step{Act: Begin, Operation: Stopping}
	}
	return Step{}
}

// lost: the home is gone, or what is left of it is older than what was in it.
func lost(r Record, s Seen) Step {
	why := "the volume is gone, and there is no archive of it"
	switch {
	case Leftover(r, s) && !s.Archive:
		why = "the volume is gone, and there is no archive; there is another volume, but the home was in use after that"
	case s.Archive:
		why = "the volume is gone; there is an archive, but the home was in use after that"
	case r.ArchiveKey != "":
		why = "the volume is gone, and its archive has gone from the bucket"
	}
	return Step{Act: Fail, Operation: r.Operation, Reason: DataLost, Why: why}
}
