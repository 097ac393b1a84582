package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/problem"
)

// twins runs a test on every kind of bucket, because all keep the same promises.
func twins(t *testing.T, test func(t *testing.T, b blob.Bucket)) {
	t.Run("folder", func(t *testing.T) { test(t, blobtest.Folder(t)) })
	t.Run("s3", func(t *testing.T) { test(t, blobtest.Open(t)) })
	t.Run("s3 with a prefix", func(t *testing.T) {
		test(t, blobtest.At(t, blobtest.S3(t)+"&prefix=some/where"))
	})
}

func put(t *testing.T, b blob.Bucket, key, text string) blob.Object {
	t.Helper()
	o, err := b.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), "text/plain; charset=utf-8")
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return o
}

func get(t *testing.T, b blob.Bucket, key string, offset, length int64) string {
	t.Helper()
	body, _, err := b.Get(t.Context(), key, offset, length)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	return string(text)
}

func keysOf(objects []blob.Object) (keys []string) {
	for _, o := range objects {
		keys = append(keys, o.Key)
	}
	return keys
}

func TestAnObjectComesBackAsItWas(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		const text = "hello, bucket"
		for _, size := range []int64{int64(len(text)), -1} {
			o, err := b.Put(t.Context(), "a/b/c.txt", strings.NewReader(text), size, "text/plain; charset=utf-8")
			if err != nil || o.Key != "a/b/c.txt" || o.Size != int64(len(text)) {
				t.Fatalf("%+v, %v", o, err)
			}
		}
		o, err := b.Stat(t.Context(), "a/b/c.txt")
		if err != nil || o.Key != "a/b/c.txt" || o.Size != int64(len(text)) || o.ContentType != "text/plain; charset=utf-8" || o.ETag == "" || o.ModifiedAt.IsZero() {
			t.Errorf("%+v, %v", o, err)
		}
		for _, part := range []struct {
			offset, length int64
			want           string
		}{
			{0, -1, text}, {0, 5, "hello"}, {7, -1, "bucket"}, {7, 3, "buc"}, {7, 1000, "bucket"}, {12, 1, "t"}, {13, -1, ""}, {13, 5, ""}, {99, -1, ""}, {99, 1, ""}, {0, 0, ""}, {3, 0, ""},
		} {
			body, o, err := b.Get(t.Context(), "a/b/c.txt", part.offset, part.length)
			if err != nil {
				t.Fatalf("%+v: %v", part, err)
			}
			got, err := io.ReadAll(body)
			if err != nil || string(got) != part.want || o.Size != int64(len(text)) || o.Key != "a/b/c.txt" {
				t.Errorf("%+v: got %q of %+v, %v", part, got, o, err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
		put(t, b, "empty", "")
		if got := get(t, b, "empty", 0, -1) + get(t, b, "empty", 0, 10); got != "" {
			t.Errorf("an empty object has %q", got)
		}
		put(t, b, "a/b/c.txt", "another, and longer than before")
		if got := get(t, b, "a/b/c.txt", 0, -1); got != "another, and longer than before" {
			t.Errorf("replaced by %q", got)
		}
	})
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		put(t, b, "a/file", "x")
		for _, key := range []string{"none", "a", "a/none", "a/file/below", "a/b/c"} {
			_, err := b.Stat(t.Context(), key)
			_, _, err2 := b.Get(t.Context(), key, 0, -1)
			_, _, err3 := b.Get(t.Context(), key, 5, 0)
			for _, err := range []error{err, err2, err3} {
				if !errors.Is(err, blob.ErrNotFound) || !errors.Is(err, weir.ErrNotFound) {
					t.Errorf("%s: %v", key, err)
				}
			}
			if err := b.Delete(t.Context(), key); err != nil {
				t.Errorf("delete %s: %v", key, err)
			}
		}
		if got := get(t, b, "a/file", 0, -1); got != "x" {
			t.Errorf("the file beside has %q", got)
		}
	})
}

func TestAListIsInOrderAndInPages(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		keys := []string{"a-b/1", "a.txt", "a/0", "a/1", "a/10", "a/2/x", "a/2/y/z", "a/2.txt", "a/3", "a0", "b/1", "é/1"}
		for _, key := range keys {
			put(t, b, key, key)
		}
		slices.Sort(keys)
		for _, limit := range []int{0, 1, 2, 5, 1000} {
			var all []string
			for after := ""; ; {
				page, err := b.List(t.Context(), "", after, limit)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				if limit > 0 && len(page) > limit {
					t.Fatalf("%d objects on a page of %d", len(page), limit)
				}
				all = append(all, keysOf(page)...)
				after = all[len(all)-1]
			}
			if !slices.Equal(all, keys) {
				t.Errorf("pages of %d: %v, want %v", limit, all, keys)
			}
		}
		for _, want := range []struct {
			prefix, after string
			keys          []string
		}{
			{"a/", "", []string{"a/0", "a/1", "a/10", "a/2.txt", "a/2/x", "a/2/y/z", "a/3"}},
			{"a/2", "", []string{"a/2.txt", "a/2/x", "a/2/y/z"}},
			{"a/2/", "a/2/x", []string{"a/2/y/z"}},
			{"a/", "a/20", []string{"a/3"}},
			{"a/", "a/2/zzz", []string{"a/3"}},
			{"b", "a/2", []string{"b/1"}},
			{"none/", "", nil},
			{"a/1", "a/1", []string{"a/10"}},
		} {
			found, err := b.List(t.Context(), want.prefix, want.after, 0)
			if err != nil || !slices.Equal(keysOf(found), want.keys) {
				t.Errorf("%q after %q: %v, %v", want.prefix, want.after, keysOf(found), err)
			}
			for _, o := range found {
				if o.Size != int64(len(o.Key)) || o.ModifiedAt.IsZero() {
					t.Errorf("%+v", o)
				}
			}
		}
		if err := b.Delete(t.Context(), keys[1:]...); err != nil {
			t.Fatal(err)
		}
		if left, err := b.List(t.Context(), "", "", 0); err != nil || len(left) != 1 || left[0].Key != keys[0] {
			t.Errorf("left are %v, %v", keysOf(left), err)
		}
	})
}

func TestKeysMayHoldAnyCharacter(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		var keys []string
		for _, name := range []string{
			"space and  two", " lead", "trail ", "plus+", "percent%20", "%2F", "%", "quest?ion=1&b", "hash#", "back\\slash", "quote\"'`", "brackets[0]{1}(2)<3>",
			"semi;colon:", "dollar$@=,!*|^~", "..dots", "dots..", "...", ".hidden", "kép és ő", "日本語", "😀", strings.Repeat("n", 200), "-", "con",
		} {
			keys = append(keys, "weird/"+name, "weird/"+name+".d/in side")
		}
		for _, key := range keys {
			put(t, b, key, "of "+key)
		}
		for _, key := range keys {
			if got := get(t, b, key, 0, -1); got != "of "+key {
				t.Errorf("%q holds %q", key, got)
			}
			if o, err := b.Stat(t.Context(), key); err != nil || o.Key != key {
				t.Errorf("%q: %+v, %v", key, o, err)
			}
		}
		slices.Sort(keys)
		found, err := b.List(t.Context(), "weird/", "", 0)
		if got := keysOf(found); err != nil || !slices.Equal(got, keys) {
			t.Errorf("listed %q, want %q, %v", got, keys, err)
		}
		if err := b.Delete(t.Context(), keys...); err != nil {
			t.Fatal(err)
		}
		if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) > 0 {
			t.Errorf("left are %v, %v", keysOf(found), err)
		}
	})
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		for _, key := range []string{
			"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a/..", "nul\x00", "line\n", "del\x7f", "bad\xff", "c1\u0085", strings.Repeat("k", 1025), strings.Repeat("k", 256), ".weir-drafts/x",
		} {
			_, err := b.Put(t.Context(), key, strings.NewReader("x"), 1, "")
			_, _, err2 := b.Get(t.Context(), key, 0, -1)
			_, err3 := b.Stat(t.Context(), key)
			err4 := b.Delete(t.Context(), "good", key)
			for i, err := range []error{err, err2, err3, err4} {
				var p *problem.Problem
				if !errors.As(err, &p) || p.Kind != problem.Invalid || p.Field != "key" {
					t.Errorf("%q, %d: %v", key, i, err)
				}
			}
		}
		if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) > 0 {
			t.Errorf("there are %v, %v", keysOf(found), err)
		}
	})
}

// noise returns random bytes that are the same for a seed.
func noise(seed uint64) io.Reader {
	var key [32]byte
	key[0] = byte(seed)
	return rand.NewChaCha8(key)
}

func TestAHugeObjectPassesInFlatMemory(t *testing.T) {
	const size = 100 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC is set to
	twins(t, func(t *testing.T, b blob.Bucket) {
		for _, known := range []int64{size, -1} {
			var most atomic.Uint64
			sent := sha256.New()
			watched := io.TeeReader(&watch{io.LimitReader(noise(1), size), &most}, sent)
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			o, err := b.Put(t.Context(), "huge", watched, known, "application/octet-stream")
			if err != nil || o.Size != size {
				t.Fatalf("%+v, %v", o, err)
			}
			// The parts are 16 MiB; the garbage collector may be one or two parts behind.
			if grown := int64(most.Load()) - int64(before.HeapAlloc); grown > 72<<20 {
				t.Errorf("it took %d MiB", grown>>20)
			}
			body, o, err := b.Get(t.Context(), "huge", 0, -1)
			if err != nil || o.Size != size {
				t.Fatalf("%+v, %v", o, err)
			}
			got := sha256.New()
			n, err := io.Copy(got, body)
			if err != nil || n != size || !bytes.Equal(got.Sum(nil), sent.Sum(nil)) {
				t.Errorf("%d bytes came back, %v", n, err)
			}
			_ = body.Close()
		}
		if got := get(t, b, "huge", size-3, -1); len(got) != 3 {
			t.Errorf("its end is %q", got)
		}
	})
}

// watch measures the memory every few MiB.
type watch struct {
	r    io.Reader
	most *atomic.Uint64
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if rand.IntN(32) == 0 {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		w.most.Store(max(w.most.Load(), now.HeapAlloc))
	}
	return n, err
}

// breaks returns some bytes and then an error.
type breaks struct {
	r   io.Reader
	err error
}

func (b *breaks) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

func TestAPutThatIsCutOffChangesNothing(t *testing.T) {
	broken := errors.New("the source broke")
	twins(t, func(t *testing.T, b blob.Bucket) {
		put(t, b, "old", "as it was")
		for _, size := range []int64{10, 3 << 20, 40 << 20} {
			for _, known := range []int64{size + 1, -1} {
				for _, key := range []string{"new/one", "old"} {
					_, err := b.Put(t.Context(), key, &breaks{io.LimitReader(noise(2), size), broken}, known, "")
					if !errors.Is(err, broken) {
						t.Errorf("%d of %d bytes: %v", size, known, err)
					}
				}
			}
			if _, err := b.Put(t.Context(), "new/one", io.LimitReader(noise(2), size), size+1, ""); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("too short: %v", err)
			}
			if _, err := b.Put(t.Context(), "new/one", io.LimitReader(noise(2), size), size-1, ""); err == nil {
				t.Error("too long was stored")
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := b.Put(ctx, "new/one", &breaks{&calls{io.LimitReader(noise(3), 20<<20), cancel, 2}, broken}, -1, "")
		if err == nil {
			t.Error("a Put that was cancelled was stored")
		}
		found, err := b.List(t.Context(), "", "", 0)
		if err != nil || len(found) != 1 || get(t, b, "old", 0, -1) != "as it was" {
			t.Errorf("there are %v, %v", keysOf(found), err)
		}
		if _, err := b.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
		if n, err := b.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 0 {
			t.Errorf("%d were left after a sweep: %v", n, err)
		}
		if get(t, b, "old", 0, -1) != "as it was" {
			t.Error("a sweep took an object")
		}
	})
}

// calls calls a function on the nth read.
type calls struct {
	r    io.Reader
	call func()
	left int
}

func (c *calls) Read(p []byte) (int, error) {
	if c.left--; c.left == 0 {
		c.call()
	}
	return c.r.Read(p)
}

func TestManyAtOnce(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		var all sync.WaitGroup
		for who := range 8 {
			all.Go(func() {
				for n := range 10 {
					// All goroutines write the same object, and delete the folders of
					// each other's.
					own, shared := fmt.Sprintf("d/%d/%d", n, who), fmt.Sprintf("d/%d/same", n)
					text := strings.Repeat(fmt.Sprint(who), 1000)
					for _, key := range []string{own, shared} {
						if _, err := b.Put(t.Context(), key, strings.NewReader(text), 1000, ""); err != nil {
							t.Error(err)
							return
						}
					}
					body, _, err := b.Get(t.Context(), shared, 0, -1)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(body)
					_ = body.Close()
					if err != nil || len(got) != 1000 || strings.Count(string(got), string(got[0])) != 1000 {
						t.Errorf("a mix of two writes, or %v", err)
					}
					if err := b.Delete(t.Context(), own); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if found, err := b.List(t.Context(), "d/", "", 0); err != nil || len(found) != 10 {
			t.Errorf("%d are left, %v", len(found), err)
		}
	})
}

func TestAPresignedURLOpensOneObject(t *testing.T) {
	b := blobtest.Open(t)
	const key = "outputs/a/render[0]/1/kép %.png"
	link := func(method string) string {
		u, err := b.Presign(t.Context(), method, key, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	do := func(method, at, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	if code, text := do("PUT", link("PUT"), "from outside"); code != 200 {
		t.Fatal(code, text)
	}
	if code, text := do("GET", link("GET"), ""); code != 200 || text != "from outside" {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := do("PUT", link("GET"), "x"); code/100 != 4 {
		t.Errorf("a link to read writes: %d", code)
	}
	if code, _ := do("GET", strings.Replace(link("GET"), "outputs", "inputs", 1), ""); code/100 != 4 {
		t.Errorf("a link opens another object: %d", code)
	}
	// A browser saves the file, and a client cannot change that.
	const keep = "response-content-disposition=attachment"
	if u := link("GET"); !strings.Contains(u, keep) {
		t.Errorf("a browser runs what is at %s", u)
	} else if code, _ := do("GET", strings.Replace(u, keep, "response-content-disposition=inline", 1), ""); code/100 != 4 {
		t.Errorf("a link shows what it should keep: %d", code)
	}
	if strings.Contains(link("GET"), "weirtest-secret") {
		t.Error("a link tells the secret")
	}
	if _, err := b.Presign(t.Context(), "DELETE", key, time.Hour); err == nil {
		t.Error("a link may delete")
	}
	if _, err := blobtest.Folder(t).Presign(t.Context(), "GET", key, time.Hour); !errors.Is(err, blob.ErrNoPresign) {
		t.Errorf("a folder: %v", err)
	}
}

func TestACopyIsAnObjectOfItsOwn(t *testing.T) {
	twins(t, func(t *testing.T, b blob.Bucket) {
		const from, to = "incoming/a", "outputs/a/render[0]/1/kép %.png"
		put(t, b, from, "first")
		put(t, b, to, "something else")
		if err := b.Copy(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		put(t, b, from, "second")
		if got := get(t, b, to, 0, -1); got != "first" {
			t.Errorf("the copy is %q", got)
		}
		if err := b.Delete(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if err := b.Copy(t.Context(), from, to); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("a copy of nothing: %v", err)
		}
		if got := get(t, b, to, 0, -1); got != "first" {
			t.Errorf("the copy is %q", got)
		}
		for _, bad := range []string{"", "../x", "/x"} {
			if b.Copy(t.Context(), to, bad) == nil || b.Copy(t.Context(), bad, to) == nil {
				t.Errorf("%q was taken for a key", bad)
			}
		}
	})
}
