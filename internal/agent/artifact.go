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
	// outputsMost is how many output files an attempt may have.
	outputsMost = 10_000
	// uploadTries is how often the upload of a file is tried before the attempt fails.
	uploadTries = 4
)

// noBucket reports whether there is no bucket to store objects in, which a retry would
// not change.
func noBucket(err error) bool {
	return errors.Is(err, node.ErrNoBucket) || problem.Explain(err).Kind == problem.Conflict
}

// collect sends the log and the output files of the work. Files that could not be stored
// count as a failure only if the work succeeded.
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

// file is a file in WEIR_OUT.
type file struct {
	name string
	size int64
}

// upload sends the files in WEIR_OUT that the definition asks for.
func (at *attempt) upload(ctx context.Context) error {
	// An os.Root keeps every path inside the folder, whatever the work has put there.
	root, err := os.OpenRoot(at.dir.path(workFolder, driver.OutFolder))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the work removed it
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

// outputs lists regular files. Links and other special files are left out because they
// may lead anywhere.
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
			telling++ // the names of artifacts are public
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

// send stores one file and retries a few times.
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

// contentType derives the type from the name, or else from the beginning of the file.
func contentType(name string, head []byte) string {
	if t := mime.TypeByExtension(strings.ToLower(filepath.Ext(name))); t != "" {
		return t
	}
	return http.DetectContentType(head)
}

// fetchInputs puts the outputs of earlier steps into in/<step>/<name>, where the work
// finds them.
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
	// The object is verified because the bucket may have damaged it, or another program
	// may have changed it.
	r = blob.Verify(r, o.SHA256, o.Size)
	defer r.Close()
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
