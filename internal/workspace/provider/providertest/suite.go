package providertest

import (
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// Subject is a provider and what a test does to the world around it.
type Subject struct {
	Provider provider.Provider
	// Again is the same installation as another server sees it.
	Again provider.Provider
	// Other is another installation on the same machine.
	Other provider.Provider
	// Kill ends a container as a crash does.
	Kill func(t testing.TB, id weir.ID)
	// Blind keeps the provider from seeing everything that is there, until it is healed.
	// Nothing else of the suite runs meanwhile.
	Blind func(t testing.TB) (heal func())
	// NoImage cannot be had. A provider without images has none.
	NoImage string
}

// Suite tests a provider. Each case has a subject of its own, and most run beside others:
// subjects have to be installations apart.
func Suite(t *testing.T, subject func(t *testing.T) Subject) {
	for _, c := range []struct {
		name  string
		run   func(*rig)
		alone bool
	}{
		{name: "a new home is empty, whole and made once", run: provisions},
		{name: "a home comes back from an archive as it was", run: restores},
		{name: "a home that is whole is left alone", run: leavesAlone},
		{name: "a restore that was cut off leaves nothing that is whole", run: cutRestore},
		{name: "a container starts once and keeps its home", run: starts},
		{name: "a start that comes late is refused", run: staleStart},
		{name: "a container without a home does not start", run: noVolume},
		{name: "a start can be made again after a crash", run: crashes},
		{name: "many who start make one container", run: startsAtOnce},
		{name: "stopping takes the container and leaves the home", run: stops},
		{name: "an archive is what is in the home", run: archives},
		{name: "an archive of another state is refused", run: staleArchive},
		{name: "a start in the midst of an archive makes it none", run: startsMidst},
		{name: "an archive that was cut off can be made again", run: cutArchive},
		{name: "removing takes the home that is meant", run: removes},
		{name: "removing what is not whole", run: removesRest},
		{name: "a look sees all or nothing", run: looks, alone: true},
		{name: "what is of others is not seen and not touched", run: foreign},
		{name: "another server finds everything", run: again},
		{name: "dialing reaches one container", run: dials},
		{name: "logs", run: logs},
		{name: "an image that cannot be had", run: noImage},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.alone {
				t.Parallel()
			}
			c.run(newRig(t, subject(t)))
		})
	}
}
