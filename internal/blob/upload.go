package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Upload stores an object and checks that it is there: it returns the SHA-256 of the
// bytes sent, once the bucket has confirmed the size.
func Upload(ctx context.Context, to Bucket, key string, r io.Reader, size int64, contentType string) (Object, string, error) {
	sum := sha256.New()
	count := &counter{r: io.TeeReader(r, sum)}
	if _, err := to.Put(ctx, key, count, size, contentType); err != nil {
		return Object{}, "", err
	}
	object, err := to.Stat(ctx, key)
	switch {
	case err != nil:
		return Object{}, "", fmt.Errorf("make sure that %s is stored: %w", key, err)
	case object.Size != count.n:
		return Object{}, "", fmt.Errorf("make sure that %s is stored: it has %d bytes, %d were sent: %w", key, object.Size, count.n, ErrCorrupt)
	}
	return object, hex.EncodeToString(sum.Sum(nil)), nil
}

// Verify passes on the bytes of r and returns ErrCorrupt instead of io.EOF if they are
// not the stored ones. An empty sum compares the size alone, a negative size the sum
// alone.
func Verify(r io.ReadCloser, sha256Hex string, size int64) io.ReadCloser {
	return &verifier{r: r, want: sha256Hex, size: size, sum: sha256.New()}
}

type verifier struct {
	r    io.ReadCloser
	want string
	size int64
	n    int64
	sum  hash.Hash
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	v.sum.Write(p[:n])
	v.n += int64(n)
	if err == io.EOF {
		if v.size >= 0 && v.n != v.size || v.want != "" && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
			err = fmt.Errorf("%w: read %d bytes", ErrCorrupt, v.n)
		}
	}
	return n, err
}

func (v *verifier) Close() error { return v.r.Close() }

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
