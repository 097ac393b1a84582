package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
)

// listMost is how many objects one List returns if the caller sets no limit.
const listMost = 1000

var (
	// ErrNotFound means that a bucket has no object with the key.
	ErrNotFound = fmt.Errorf("%w: the bucket has no such object", weir.ErrNotFound)
	// ErrNoPresign means that a bucket has no presigned URLs: read and write through the
	// server.
	ErrNoPresign = errors.New("this bucket has no presigned URLs")
	// ErrCorrupt means that the bytes read are not the bytes stored.
	ErrCorrupt = errors.New("the object is not what was stored")
)

// Object describes one object of a bucket.
type Object struct {
	Key         string
	Size        int64
	ContentType string
	ETag        string
	ModifiedAt  time.Time
}

// Bucket keeps objects by key. It is safe for concurrent use.
//
// A key is 1 to 1024 bytes of UTF-8: parts with a slash between, none of them
// empty, "." or "..", and no control characters. Any other is refused.
type Bucket interface {
	// Put stores an object, or replaces it. size is the number of bytes in r, or -1 if it
	// is not known; if r has another number, nothing is stored.
	Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) (Object, error)
	// Get reads length bytes from offset on, to the end if length is negative. The
	// returned object describes the whole object. A range beyond the end is empty.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Object, error)
	Stat(ctx context.Context, key string) (Object, error)
	// List returns objects whose key begins with prefix and lies behind after, in the
	// order of their bytes, at most limit (zero: 1000). It may leave out the ETag and the
	// content type.
	List(ctx context.Context, prefix, after string, limit int) ([]Object, error)
	// Copy stores an object under another key too, or replaces the object there.
	Copy(ctx context.Context, from, to string) error
	// Delete removes objects. A missing one is no error.
	Delete(ctx context.Context, keys ...string) error
	// Presign returns a URL with which any holder can GET, HEAD or PUT one object for a
	// time, at most a week. A folder returns ErrNoPresign.
	Presign(ctx context.Context, method, key string, ttl time.Duration) (string, error)
	// Sweep removes the remains of uploads that were cut off before a time, and returns
	// how many it removed. The other methods never see such remains.
	Sweep(ctx context.Context, before time.Time) (int, error)
	// Name identifies the bucket, without credentials. The database stores it, so it
	// stays the same as long as the objects do.
	Name() string
}

// Open opens a bucket by its URL:
//
//	folder:///var/lib/weir/bucket, or just /var/lib/weir/bucket
//	s3://KEY:SECRET@host:port/bucket?tls=false&region=eu-central-1&prefix=weir
//
// Without KEY:SECRET an S3 bucket takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY from
// the environment. A missing folder is created; a missing S3 bucket is not.
func Open(ctx context.Context, at string) (Bucket, error) {
	if at == "" {
		return nil, problem.Refuse("bucket", "give folder:///path or s3://host/bucket", "it is empty")
	}
	u, err := url.Parse(at)
	if err != nil { // its text would hold the secret
		return nil, problem.Refuse("bucket", "escape what is special in the key and the secret, as in a URL", "this is not a URL")
	}
	switch u.Scheme {
	case "":
		return openFolder(at)
	case "folder", "file":
		if u.Host != "" || u.Path == "" {
			return nil, problem.Refuse("bucket", "write three slashes: folder:///path", "a folder has no host")
		}
		return openFolder(u.Path)
	case "s3":
		return openS3(ctx, u)
	default:
		return nil, problem.Refuse("bucket", "give folder:///path or s3://host/bucket", "there is no kind of bucket %q", u.Scheme)
	}
}

// missing returns the error about an object that does not exist.
func missing(op, key string) error { return fmt.Errorf("%s %s: %w", op, key, ErrNotFound) }

// Close releases the folder or the connections of a bucket, which must not be used after
// that.
func Close(b Bucket) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
