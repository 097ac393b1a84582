package blob_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/problem"
)

func faulty(t *testing.T) (blob.Bucket, *blobtest.Proxy) {
	t.Helper()
	at, proxy := blobtest.S3Proxy(t)
	return blobtest.At(t, at), proxy
}

func method(name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == name }
}

func TestAnErrorThatPassesIsNotNoticed(t *testing.T) {
	b, proxy := faulty(t)
	for _, fault := range []blobtest.Fault{{Status: 500}, {Status: 503}, {CutRequest: 3}} {
		proxy.Set(fault, 2, method("PUT"))
		put(t, b, "a", "a small object")
		if proxy.Met() != 2 {
			t.Errorf("%+v met %d requests", fault, proxy.Met())
		}
		proxy.Set(fault, 1, method("GET"))
		if got := get(t, b, "a", 0, -1); got != "a small object" {
			t.Errorf("got %q", got)
		}
	}
	// A large object is sent again part by part.
	proxy.Set(blobtest.Fault{Status: 500}, 1, func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" })
	if o, err := b.Put(t.Context(), "large", io.LimitReader(noise(1), 40<<20), -1, ""); err != nil || o.Size != 40<<20 || proxy.Met() != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestAnErrorThatStaysIsAProblem(t *testing.T) {
	b, proxy := faulty(t)
	put(t, b, "a", "x")
	proxy.Set(blobtest.Fault{Status: 500}, -1, nil)
	_, err := b.Stat(t.Context(), "a")
	if p := problem.Explain(err); p.Kind != problem.Unreachable || !strings.Contains(err.Error(), "500") || p.Next == "" {
		t.Errorf("%v, %+v", err, p)
	}
	proxy.Set(blobtest.Fault{Hang: true}, -1, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.Put(ctx, "a", strings.NewReader("y"), 1, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a bucket that hangs: %v", err)
	}
	proxy.Set(blobtest.Fault{}, 0, nil)
	if got := get(t, b, "a", 0, -1); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestABodyThatIsCutIsAnError(t *testing.T) {
	b, proxy := faulty(t)
	if _, err := b.Put(t.Context(), "a", io.LimitReader(noise(1), 1<<20), 1<<20, ""); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int64{1, 1000, 1<<20 - 1} {
		for _, part := range [][2]int64{{0, -1}, {0, 1 << 20}} {
			proxy.Set(blobtest.Fault{CutResponse: k}, -1, method("GET"))
			body, _, err := b.Get(t.Context(), "a", part[0], part[1])
			if err != nil {
				continue // the connection was cut before the read
			}
			if n, err := io.Copy(io.Discard, body); err == nil || n > k {
				t.Errorf("cut at %d: %d bytes and no error", k, n)
			}
			_ = body.Close()
		}
	}
}

func TestAPutThatIsCutByTheNetworkLeavesNothing(t *testing.T) {
	b, proxy := faulty(t)
	put(t, b, "old", "as it was")
	for _, key := range []string{"new", "old"} {
		for _, size := range []int64{100, 2 << 20, 40 << 20} {
			proxy.Set(blobtest.Fault{CutRequest: 50}, -1, method("PUT"))
			if _, err := b.Put(t.Context(), key, io.LimitReader(noise(1), size), size, ""); err == nil {
				t.Errorf("%s of %d bytes was stored", key, size)
			}
		}
	}
	proxy.Set(blobtest.Fault{}, 0, nil)
	if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) != 1 || get(t, b, "old", 0, -1) != "as it was" {
		t.Errorf("there are %v, %v", keysOf(found), err)
	}
}

func TestAnUploadIsNotBelievedButChecked(t *testing.T) {
	b, proxy := faulty(t)
	const text = "precious"
	proxy.Set(blobtest.Fault{Lie: true}, -1, method("PUT"))
	if _, _, err := blob.Upload(t.Context(), b, "a", strings.NewReader(text), -1, ""); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("success, then missing: %v", err)
	}
	proxy.Set(blobtest.Fault{}, 0, nil)
	put(t, b, "a", "something else")
	proxy.Set(blobtest.Fault{Lie: true}, -1, method("PUT"))
	if _, _, err := blob.Upload(t.Context(), b, "a", strings.NewReader(text), -1, ""); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("success, then another: %v", err)
	}
	proxy.Set(blobtest.Fault{}, 0, nil)
	o, sum, err := blob.Upload(t.Context(), b, "a", strings.NewReader(text), -1, "text/plain")
	if err != nil || o.Size != int64(len(text)) || len(sum) != 64 {
		t.Fatalf("%+v, %s, %v", o, sum, err)
	}
	read := func() (string, error) {
		body, o, err := b.Get(t.Context(), "a", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		body = blob.Verify(body, sum, o.Size)
		defer body.Close()
		got, err := io.ReadAll(body)
		return string(got), err
	}
	if got, err := read(); err != nil || got != text {
		t.Errorf("%q, %v", got, err)
	}
	for k := range int64(len(text)) {
		proxy.Set(blobtest.Fault{Flip: k + 1}, 1, method("GET"))
		if got, err := read(); !errors.Is(err, blob.ErrCorrupt) || proxy.Met() != 1 {
			t.Errorf("bit %d: %q, %v", k, got, err)
		}
	}
}

func TestABucketThatCannotBeUsedSaysWhy(t *testing.T) {
	at := blobtest.S3(t)
	for change, want := range map[string]string{
		"weirtest-secret@ canary-secret-91@": "refuses us",
		"/weir-test- /weir-none-":            "there is no bucket",
	} {
		was, is, _ := strings.Cut(change, " ")
		wrong := strings.Replace(at, was, is, 1)
		b, err := blob.Open(t.Context(), wrong)
		if err != nil || wrong == at {
			t.Fatal(wrong, err)
		}
		err = blob.Check(t.Context(), b)
		if p := problem.Explain(err); !strings.Contains(p.What, want) || p.Next == "" {
			t.Errorf("%s: %v", change, err)
		}
		if strings.Contains(err.Error()+b.Name(), "canary-secret-91") || strings.Contains(b.Name(), "weirtest:") {
			t.Errorf("the secret is told: %v, %s", err, b.Name())
		}
	}
	for _, bad := range []string{
		"", "ftp://x/y", "s3://", "s3://host", "s3://host/a/b", "s3://key@host/bucket", "s3://k:canary-secret-91@host/b?tls=maybe", "s3://k:canary-secret-91@host/b?prefix=../x",
		"s3://k:canary-secret-91@host/b?x=y", "folder://host/path", "folder://", "s3://k:canary-secret-91@ho st/b", "s3://k:canary-secret-91%zz@host/b", "s3://k:canary-secret-91@host:port/b",
	} {
		_, err := blob.Open(t.Context(), bad)
		var p *problem.Problem
		if !errors.As(err, &p) || p.Field != "bucket" || p.Next == "" || strings.Contains(p.What+p.Next, "canary-secret-91") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := blob.Check(t.Context(), blobtest.Open(t)); err != nil {
		t.Error(err)
	}
}

func TestAFolderDoesNotLeadOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	b, err := blob.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("not yours"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"folder": outside, "file": filepath.Join(outside, "secret"), "up": "..", "gone": filepath.Join(outside, "none")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"folder/secret", "file", "up/x", "folder/new", "gone"} {
		if _, _, err := b.Get(t.Context(), key, 0, -1); err == nil {
			t.Errorf("%s was read", key)
		}
		if _, err := b.Stat(t.Context(), key); err == nil {
			t.Errorf("%s is there", key)
		}
		if strings.Contains(key, "/") {
			if _, err := b.Put(t.Context(), key, strings.NewReader("x"), 1, ""); err == nil {
				t.Errorf("%s was written", key)
			}
			_ = b.Delete(t.Context(), key)
		}
	}
	if found, err := b.List(t.Context(), "", "", 0); err != nil || len(found) > 0 {
		t.Errorf("listed %v, %v", keysOf(found), err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(text) != "not yours" {
		t.Errorf("%q, %v", text, err)
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
		t.Errorf("outside are %v, %v", files, err)
	}
	// An object replaces a link to a file, and not the file.
	put(t, b, "file", "mine")
	if text, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(text) != "not yours" {
		t.Errorf("%q, %v", text, err)
	}
}
