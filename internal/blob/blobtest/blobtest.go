package blobtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/weirhq/weir/internal/blob"
)

// shared is the server of this process: one is enough, because each test has its own
// bucket.
var shared = sync.OnceValues(start)

// server is the child process.
type server struct {
	address string
	// lifeline is its standard input. It is kept here because a collected pipe would end
	// the server.
	lifeline io.Closer
}

var buckets atomic.Int64

// S3 makes an empty bucket on a real S3 server and returns its URL for
// [blob.Open].
func S3(t testing.TB) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("start the S3 server: %v", err)
	}
	return urlOf(s.address, newBucket(t, s.address))
}

// Open makes an empty bucket on the S3 server and opens it.
func Open(t testing.TB) blob.Bucket {
	t.Helper()
	return At(t, S3(t))
}

// Folder opens an empty bucket in a folder.
func Folder(t testing.TB) blob.Bucket {
	t.Helper()
	return At(t, "folder://"+t.TempDir())
}

// At opens a bucket for the length of the test.
func At(t testing.TB, url string) blob.Bucket {
	t.Helper()
	b, err := blob.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blob.Close(b); err != nil {
			t.Error(err)
		}
	})
	return b
}

func urlOf(address, bucket string) string {
	u := url.URL{Scheme: "s3", User: url.UserPassword(access, secret), Host: address, Path: "/" + bucket, RawQuery: "tls=false"}
	return u.String()
}

func newBucket(t testing.TB, address string) string {
	t.Helper()
	conns := &http.Transport{DisableKeepAlives: true}
	client, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(access, secret, ""), Region: "us-east-1", Transport: conns})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("weir-test-%d", buckets.Add(1))
	if err := client.MakeBucket(context.Background(), name, minio.MakeBucketOptions{}); err != nil {
		t.Fatalf("make the bucket %s: %v", name, err)
	}
	return name
}

// start starts this binary as the server. It is never stopped: its standard input ends
// with this process.
func start() (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "weir-s3-")
	if err != nil {
		return nil, err
	}
	child := exec.Command(self) // #nosec G204 -- this binary
	child.Env = append(os.Environ(), serveIn+"="+dir)
	child.Dir = dir
	lifeline, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// The log is a file, so that no goroutine of this process copies it.
	said, err := os.Create(filepath.Join(dir, "log")) // #nosec G304 -- a folder of our own
	if err != nil {
		return nil, err
	}
	defer said.Close()
	child.Stderr = said
	if err := child.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(said.Name())
		err = fmt.Errorf("it says nothing: %w, %v: %s", err, child.Wait(), text)
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &server{strings.TrimSpace(address), lifeline}, nil
}
