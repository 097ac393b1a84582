package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// outputsMost is how many files an attempt may leave.
	outputsMost = 10_000
	// uploadTries is how often a file is sent before the attempt has failed.
	uploadTries = 4
)

// noBucket reports whether there is nowhere to keep things, which no repeat
// would change.
func noBucket(err error) bool {
	return errors.Is(err, node.ErrNoBucket) || problem.Explain(err).Kind == problem.Conflict
}

// collect sends what is left of the work: its log and its files. Files that
// could not be kept are a fault only of work that succeeded.
func (at *attempt) collect(e evidence) error {
	if at.ship == nil {
		return nil
	}
	ctx, cancel := at.patience()
	at.ship.finish(ctx)
	cancel()
	if e.cause != nil || e.err != nil {
		return nil
	}
	err := at.upload(at.kill)
	if err != nil && e.exit.Code != 0 {
		at.agent.log.Warn("the files of a failed attempt were not kept", "task", at.Task, "error", err)
		return nil
	}
	return err
}

// file is one of WEIR_OUT.
type file struct {
	name string
	size int64
}

// upload sends the files in WEIR_OUT that the definition asks for.
func (at *attempt) upload(ctx context.Context) error {
	// A root keeps us inside the folder whatever the work has put there.
	root, err := os.OpenRoot(at.dir.path(workFolder, driver.OutFolder))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the work took it away
		}
		return fmt.Errorf("read WEIR_OUT: %w", err)
	}
	defer root.Close()
	files, err := at.outputs(root)
	if err != nil || len(files) == 0 {
		return err
	}
	for _, f := range files {
		if err := at.send(ctx, root, f); err != nil {
			if noBucket(err) {
				at.note("warn", fmt.Sprintf("%d files in WEIR_OUT are not kept: %v", len(files), err))
				return nil
			}
			return fmt.Errorf("keep %s: %w", f.name, err)
		}
	}
	return nil
}

// outputs lists plain files. Links and the like are left out: they may lead
// anywhere.
func (at *attempt) outputs(root *os.Root) ([]file, error) {
	var files []file
	var total int64
	telling, odd := 0, 0
	err := fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() || !at.asked(path) {
			return nil
		}
		if !e.Type().IsRegular() {
			odd++
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if at.mask.String(path) != path {
			telling++ // everybody reads the names of artifacts
			return nil
		}
		files = append(files, file{path, info.Size()})
		total += info.Size()
		if len(files) > outputsMost || total > at.agent.config.OutputMost {
			return &refused{fmt.Errorf("WEIR_OUT has more than %d files or %d bytes", outputsMost, at.agent.config.OutputMost)}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read WEIR_OUT: %w", err)
	}
	if telling > 0 {
		at.note("warn", fmt.Sprintf("%d files in WEIR_OUT are not kept: their names hold a secret", telling))
	}
	if odd > 0 {
		at.note("warn", fmt.Sprintf("%d links, pipes or the like in WEIR_OUT are not kept: only files are", odd))
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// asked reports whether the definition wants a file.
func (at *attempt) asked(path string) bool {
	return at.run.Artifacts == nil || slices.ContainsFunc(at.run.Artifacts, func(p string) bool { return node.Match(p, path) })
}

// send keeps one file, trying a few times.
func (at *attempt) send(ctx context.Context, root *os.Root, f file) error {
	for try := 0; ; try++ {
		err := at.sendOnce(ctx, root, f)
		if err == nil {
			return nil
		}
		if lost(err) {
			at.stop(errLost)
			return err
		}
		if final(err) || noBucket(err) || try+1 == uploadTries || !loop.Wait(ctx, backoff(try), nil) {
			return err
		}
		at.agent.failed("upload", err)
	}
}

func (at *attempt) sendOnce(ctx context.Context, root *os.Root, f file) error {
	in, err := root.Open(filepath.FromSlash(f.name))
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	head := make([]byte, 512)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	size, err := io.Copy(sum, in)
	if err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return at.agent.transport.Upload(ctx, at.Holds(), node.ArtifactMeta{
		Kind: node.OutputArtifact, Name: f.name, Size: size, ContentType: contentType(f.name, head[:n]), SHA256: hex.EncodeToString(sum.Sum(nil)),
	}, in)
}

// contentType is by the name, else by how the file begins.
func contentType(name string, head []byte) string {
	if t := mime.TypeByExtension(strings.ToLower(filepath.Ext(name))); t != "" {
		return t
	}
	return http.DetectContentType(head)
}

// fetchInputs puts the outputs of earlier steps where the work finds them:
// in/<step>/<name>.
func (at *attempt) fetchInputs(ctx context.Context) error {
	if len(at.run.Inputs) == 0 {
		return nil
	}
	inputs, err := at.agent.transport.Inputs(ctx, at.Holds())
	if err != nil {
		return fmt.Errorf("list inputs: %w", err)
	}
	in := at.dir.path(workFolder, driver.InFolder)
	if err := os.Mkdir(in, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(in)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, o := range inputs {
		if err := at.fetch(ctx, root, o); err != nil {
			return fmt.Errorf("fetch input %s of step %s: %w", o.Name, o.Step, err)
		}
	}
	return nil
}

func (at *attempt) fetch(ctx context.Context, root *os.Root, o node.InputObject) (err error) {
	name := filepath.Join(strings.ReplaceAll(o.Step, "/", "_"), filepath.FromSlash(o.Name))
	if !filepath.IsLocal(name) {
		return &refused{errors.New("its name leads out of the folder")}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	r, err := at.agent.transport.Fetch(ctx, at.Holds(), o.Key)
	if err != nil {
		return err
	}
	// The bucket may have lost its word, or somebody may have been at it.
	r = blob.Verify(r, o.SHA256, o.Size)
	defer r.Close()
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
