package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/workspace/home"
)

// Provider runs workspaces in one way.
type Provider interface {
	// Name is what workspaces say that they are run by.
	Name() string
	// Check says why it cannot work, or nil.
	Check(ctx context.Context) error
	Look(ctx context.Context) (World, error)
	// Provision makes an empty home.
	Provision(ctx context.Context, id weir.ID, mounts int64) error
	// Restore makes a home of an archive. The volume is marked as one says.
	Restore(ctx context.Context, id weir.ID, archive io.Reader, as Volume) error
	// Image refuses with ErrImage what a start would refuse by its name alone. Empty is
	// the built-in one.
	Image(asked string) error
	// Start starts the container. The volume keeps the number of the mount, and refuses
	// one that is not higher than its last with ErrStale, unless it is the same start and
	// nobody has ended that.
	Start(ctx context.Context, spec Spec) error
	// Stop returns when the container is gone, with everything that ran in it.
	Stop(ctx context.Context, id weir.ID) error
	// Archive writes the home as an archive, and says what whoever packed it has packed.
	// The volume must be the one that is meant, before and after. A start of it that comes
	// late does not come any more.
	Archive(ctx context.Context, id weir.ID, meant Volume, to io.Writer) (home.Meta, error)
	// Remove takes the volume away, if it is the one that is meant.
	Remove(ctx context.Context, id weir.ID, meant Volume) error
	// Dial reaches the container, and nothing else.
	Dial(ctx context.Context, id weir.ID) (net.Conn, error)
	// Logs writes the last lines that the container has printed.
	Logs(ctx context.Context, id weir.ID, lines int, to io.Writer) error
}

// Spec is what a container is started with.
type Spec struct {
	ID    weir.ID
	Name  string
	Image string
	Owner string
	// Mounts numbers this start.
	Mounts int64
	// Op is the operation that starts it.
	Op weir.ID
	// Tell hears how far it is, when a start takes its time. Nil: nobody listens.
	Tell func(says string)
}

// World is everything of this installation that is there.
type World struct {
	Containers map[weir.ID]Container
	Volumes    map[weir.ID]Volume
}

// Container is one that has been started.
type Container struct {
	// Ready: it answers.
	Ready bool
	Since time.Time
}

// Volume is a home, or the beginning of one.
type Volume struct {
	// Marker says what is in it. Empty: it is not whole.
	Marker string
	// Mounts is the number of the last start that has mounted it.
	Mounts int64
}

// Fresh marks a home that was made empty.
const Fresh = "fresh"

// ErrInUse is a volume that a container uses.
var ErrInUse = errors.New("a container uses the volume")

// ErrStale is a call of somebody who does not know what has been done since.
var ErrStale = errors.New("the volume has been used or filled again meanwhile")

// ErrNoVolume is a volume that is not there, or not whole.
var ErrNoVolume = errors.New("there is no such volume")

// ErrNotRunning is a container that is not there.
var ErrNotRunning = errors.New("the workspace does not run")

// ErrImage is an image that cannot be had. Trying again will not help.
var ErrImage = errors.New("the image cannot be had")
