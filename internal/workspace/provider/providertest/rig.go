package providertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/testwait"
	"github.com/weirhq/weir/internal/workspace/home"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// rig is one test of a subject. What it leaves behind goes at its end.
type rig struct {
	*testing.T
	Subject
	ids []weir.ID
}

func newRig(t *testing.T, s Subject) *rig {
	t.Helper()
	r := &rig{T: t, Subject: s}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testwait.Limit)
		defer cancel()
		for _, id := range r.ids {
			if err := s.Provider.Stop(ctx, id); err != nil {
				t.Error(err)
			}
			w, err := s.Provider.Look(ctx)
			if err == nil {
				err = s.Provider.Remove(ctx, id, w.Volumes[id])
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// is wants an error of a kind.
func (r *rig) is(err, kind error) {
	r.Helper()
	if !errors.Is(err, kind) {
		r.Fatalf("it said %v, and not %v", err, kind)
	}
}

func newID() (id weir.ID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// id is a workspace that is cleaned up.
func (r *rig) id() weir.ID {
	r.Helper()
	id := newID()
	r.ids = append(r.ids, id)
	return id
}

// fresh is a workspace with an empty home.
func (r *rig) fresh() weir.ID {
	r.Helper()
	id := r.id()
	r.ok(r.Provider.Provision(r.Context(), id, 0))
	return id
}

func spec(id weir.ID, mounts int64) provider.Spec {
	return provider.Spec{ID: id, Name: "first", Owner: "ann", Mounts: mounts, Op: newID()}
}

// run starts a workspace and waits until it answers.
func (r *rig) run(id weir.ID, mounts int64) {
	r.Helper()
	r.ok(r.Provider.Start(r.Context(), spec(id, mounts)))
	r.ready(id)
}

func (r *rig) ready(id weir.ID) {
	r.Helper()
	testwait.Every(r, 50*time.Millisecond, "the workspace answers", func() bool { return r.look().Containers[id].Ready })
}

func (r *rig) look() provider.World {
	r.Helper()
	w, err := r.Provider.Look(r.Context())
	r.ok(err)
	return w
}

// wantVolume wants a volume to be there and to be so.
func (r *rig) wantVolume(id weir.ID, want provider.Volume) {
	r.Helper()
	if got, there := r.look().Volumes[id]; !there || got != want {
		r.Fatalf("the volume is %+v (there: %v), and not %+v", got, there, want)
	}
}

// notWhole wants no volume, or one that is not whole.
func (r *rig) notWhole(id weir.ID) {
	r.Helper()
	if got := r.look().Volumes[id]; got.Marker != "" {
		r.Fatalf("the volume is whole: %+v", got)
	}
}

func (r *rig) wantContainer(id weir.ID, want bool) {
	r.Helper()
	if got, there := r.look().Containers[id]; there != want {
		r.Fatalf("the container is there: %v (%+v)", there, got)
	}
}

// ask speaks to a workspace as the proxy would.
func (r *rig) ask(p provider.Provider, id weir.ID, method, path, body string) (int, string) {
	r.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx, id) }}}
	request, err := http.NewRequestWithContext(r.Context(), method, "http://workspace"+path, strings.NewReader(body))
	r.ok(err)
	answer, err := client.Do(request)
	r.ok(err)
	text, err := io.ReadAll(answer.Body)
	r.ok(errors.Join(err, answer.Body.Close()))
	return answer.StatusCode, string(text)
}

func (r *rig) write(id weir.ID, name, text string) {
	r.Helper()
	if code, says := r.ask(r.Provider, id, http.MethodPut, "/files/"+name, text); code != http.StatusNoContent {
		r.Fatalf("write %s: %d %s", name, code, says)
	}
}

func (r *rig) wantFile(id weir.ID, name, want string) {
	r.Helper()
	if code, text := r.ask(r.Provider, id, http.MethodGet, "/files/"+name, ""); code != http.StatusOK || text != want {
		r.Fatalf("%s: %d %q, and not %q", name, code, text, want)
	}
}

// used is a workspace that ran once and has a file in its home.
func (r *rig) used() (weir.ID, provider.Volume) {
	r.Helper()
	id := r.fresh()
	r.run(id, 1)
	r.write(id, "notes/today.txt", "kept")
	r.ok(r.Provider.Stop(r.Context(), id))
	return id, provider.Volume{Marker: provider.Fresh, Mounts: 1}
}

// archive takes an archive and reads it as the controller does.
func (r *rig) archive(id weir.ID, meant provider.Volume) []byte {
	r.Helper()
	var text bytes.Buffer
	meta, err := r.Provider.Archive(r.Context(), id, meant, &text)
	r.ok(err)
	sum := sha256.Sum256(text.Bytes())
	if meta.SHA256 != hex.EncodeToString(sum[:]) || meta.Size != int64(text.Len()) {
		r.Fatalf("%d bytes came, and it says %+v", text.Len(), meta)
	}
	holds, err := home.Verify(r.Context(), bytes.NewReader(text.Bytes()), home.Limits{})
	r.ok(err)
	if holds.Entries != meta.Entries || holds.Bytes != meta.Bytes || meta.Format != home.Format {
		r.Fatalf("it holds %+v, and says %+v", holds, meta)
	}
	return text.Bytes()
}

// unpack unpacks an archive beside everything and describes it.
func (r *rig) unpack(archive []byte) map[string]string {
	r.Helper()
	dir := r.TempDir()
	_, err := home.Unpack(r.Context(), bytes.NewReader(archive), dir, home.Limits{})
	r.ok(err)
	return describe(r, dir)
}
