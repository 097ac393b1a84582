package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace/inside/program"
)

// tool is our own binary in the engine: as an image, which is the built-in workspace and
// all helpers, and in a volume that every container sees.
type tool struct {
	// turn is taken by whoever looks after it. Others wait as long as they have time.
	turn          chan struct{}
	image, volume string
	// installed: this process has put it into the volume.
	installed bool
}

// layout is what the image is made of beside the binary; another one is another image.
const layout = "1"

// userOf is who the built-in workspace is.
const userOf = 1000

// ready sees to it that the engine has both.
func (t *tool) ready(ctx context.Context, p *Provider) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return p.fault("wait for the built-in image", ctx.Err())
	}
	defer func() { <-t.turn }()
	if t.image == "" {
		path, err := p.program()
		if err != nil {
			return err
		}
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		t.image, t.volume = "weir-workspace:"+sum, "weir-tool-"+sum
	}
	if err := t.imported(ctx, p); err != nil {
		return about("the built-in image", err)
	}
	return about("the tool of workspaces", t.mountable(ctx, p))
}

// program is the path of the binary, which has to run where there is nothing else.
func (p *Provider) program() (string, error) {
	path := p.config.Program
	if path == "" {
		own, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find our own program: %w", err)
		}
		path = own
	}
	binary, err := elf.Open(path)
	if err != nil {
		return "", problem.New(problem.Invalid, "give the path of a Linux build of Weir", "%s cannot run in a container: %v", path, err)
	}
	defer binary.Close()
	if slices.ContainsFunc(binary.Progs, func(part *elf.Prog) bool { return part.Type == elf.PT_INTERP }) {
		return "", problem.New(problem.Invalid, "build it with CGO_ENABLED=0", "%s cannot run in an empty container: it needs libraries", path)
	}
	return path, nil
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path) // #nosec G304 -- the operator's choice
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	_, _ = io.WriteString(sum, layout) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// imported makes the image, if the engine does not have it.
func (t *tool) imported(ctx context.Context, p *Provider) error {
	inspect := func(ctx context.Context) (client.ImageInspectResult, error) {
		return p.engine.ImageInspect(ctx, t.image)
	}
	if _, err := call(ctx, p, "look for it", inspect); !cerrdefs.IsNotFound(err) {
		return err
	}
	path, err := p.program()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.PullTime)
	defer cancel()
	read, write := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_ = write.CloseWithError(writeImage(path, write)) // never fails
	}()
	answer, err := p.engine.ImageImport(ctx, client.ImageImportSource{Source: read, SourceName: "-"}, t.image, client.ImageImportOptions{Changes: []string{
		fmt.Sprintf("USER %d:%d", userOf, userOf), "ENV PATH=" + toolPath + ":/usr/local/bin:/usr/bin:/bin", "WORKDIR " + defaultHome, "LABEL " + labelRole + "=" + roleTool,
	}})
	if err == nil {
		_, err = io.Copy(io.Discard, answer)
		err = errors.Join(err, answer.Close())
	}
	_ = read.Close() // nothing reads any more
	<-written
	if err != nil {
		return p.fault("import it", err)
	}
	_, err = call(ctx, p, "look for it", inspect)
	return err
}

// writeImage writes the root of the image: the binary, a home, and who its user is.
func writeImage(path string, to io.Writer) error {
	binary, err := os.Open(path) // #nosec G304 -- the operator's choice
	if err != nil {
		return err
	}
	defer binary.Close()
	info, err := binary.Stat()
	if err != nil {
		return err
	}
	w := tar.NewWriter(to)
	folder := func(name string, mode int64, owner int) error {
		return w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode, Uid: owner, Gid: owner})
	}
	file := func(name string, mode, size int64, from io.Reader) error {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: size}); err != nil {
			return err
		}
		_, err := io.Copy(w, from)
		return err
	}
	text := func(name, text string) error { return file(name, 0o644, int64(len(text)), strings.NewReader(text)) }
	return errors.Join(
		folder("tmp/", 0o1777, 0), folder("etc/", 0o755, 0), folder("home/", 0o755, 0), folder(defaultHome[1:]+"/", 0o755, userOf),
		text("etc/passwd", fmt.Sprintf("root:x:0:0:root:/:/\nworkspace:x:%d:%d:workspace:%s:/\n", userOf, userOf, defaultHome)),
		text("etc/group", fmt.Sprintf("root:x:0:\nworkspace:x:%d:\n", userOf)),
		folder(toolPath[1:]+"/", 0o755, 0), file(toolPath[1:]+"/"+program.Name, 0o755, info.Size(), binary),
		w.Close(),
	)
}

// mountable puts the binary into its volume, once in the life of this process and again if
// the volume is gone.
func (t *tool) mountable(ctx context.Context, p *Provider) error {
	if t.installed {
		_, err := call(ctx, p, "look for it", func(ctx context.Context) (client.VolumeInspectResult, error) {
			return p.engine.VolumeInspect(ctx, t.volume, client.VolumeInspectOptions{})
		})
		if !cerrdefs.IsNotFound(err) {
			return err
		}
		t.installed = false
	}
	_, err := call(ctx, p, "make its volume", func(ctx context.Context) (client.VolumeCreateResult, error) {
		return p.engine.VolumeCreate(ctx, client.VolumeCreateOptions{Name: t.volume, Driver: "local", Labels: map[string]string{labelRole: roleTool}})
	})
	if err != nil {
		return err
	}
	mounts := []mount.Mount{{Type: mount.TypeVolume, Source: t.volume, Target: helperPath, VolumeOptions: &mount.VolumeOptions{NoCopy: true}}}
	if _, err := p.help(ctx, p.helper(weir.ID{}, "install", "", mounts, nil, []string{helperPath}), strings.NewReader(""), io.Discard); err != nil {
		return err
	}
	t.installed = true
	return nil
}
