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

// listMost is how many objects one List returns when nobody says how many.
const listMost = 1000

var (
	// ErrNotFound says that a bucket has no object with the key.
	ErrNotFound = fmt.Errorf("%w: the bucket has no such object", weir.ErrNotFound)
	// ErrNoPresign says that a bucket cannot hand out URLs: read and write
	// through the server.
	ErrNoPresign = errors.New("this bucket has no presigned URLs")
	// ErrCorrupt says that what was read is not what was stored.
	ErrCorrupt = errors.New("the object is not what was stored")
)

// Object is what a bucket knows about one of its objects.
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
	// Put stores an object, or replaces it. size is how many bytes r gives, -1 if
	// that is not known; if it gives another number, nothing is stored.
	Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) (Object, error)
	// Get reads length bytes from offset on, to the end if length is negative.
	// The object describes the whole. What lies behind the end is empty.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Object, error)
	Stat(ctx context.Context, key string) (Object, error)
	// List gives objects whose key begins with prefix and lies behind after, in
	// the order of their bytes, at most limit (zero: 1000). It may leave out the
	// ETag and the content type.
	List(ctx context.Context, prefix, after string, limit int) ([]Object, error)
	// Copy stores an object under another key too, or replaces what lies there.
	Copy(ctx context.Context, from, to string) error
	// Delete removes objects. One that is not there is no error.
	Delete(ctx context.Context, keys ...string) error
	// Presign makes a URL that lets whoever has it GET, HEAD or PUT one object for
	// a time, at most a week. A folder answers ErrNoPresign.
	Presign(ctx context.Context, method, key string, ttl time.Duration) (string, error)
	// Sweep removes what uploads that were cut off before a time have left, and
	// returns how many it removed. No such thing is visible to the other methods.
	Sweep(ctx context.Context, before time.Time) (int, error)
	// Name says which bucket it is, without credentials. It is what the database
	// notes, so it stays the same as long as the objects do.
	Name() string
}

// Open opens a bucket by its URL:
//
//	folder:///var/lib/weir/bucket, or just /var/lib/weir/bucket
//	s3://KEY:SECRET@host:port/bucket?tls=false&region=eu-central-1&prefix=weir
//
// Without KEY:SECRET an S3 bucket takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
// from the environment. A folder is made if it is not there; a bucket must be.
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

// missing is the error about an object that is not there.
func missing(op, key string) error { return fmt.Errorf("%s %s: %w", op, key, ErrNotFound) }

// Close frees what a bucket holds open: a folder, or connections. It must not be
// used after that.
func Close(b Bucket) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
