package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/weirhq/weir/internal/problem"
)

const (
	// partBytes is how much of a large object is in memory at once. With ten thousand
	// parts an object may have 156 GiB.
	partBytes = 16 << 20
	// smallBytes is the size up to which an object is read before it is sent, so that it
	// can be sent again.
	smallBytes = 1 << 20
	// tries is how often a request is sent before it fails.
	tries = 4
	// presignMost is a limit of S3.
	presignMost = 7 * 24 * time.Hour
	plainBytes  = "application/octet-stream"
)

// s3 is a bucket at an S3 endpoint.
type s3 struct {
	core   minio.Core
	bucket string
	prefix string // empty, or ends in a slash
	name   string
	conns  *http.Transport
}

// openS3 does not contact the endpoint, because a bucket that is away must not keep a
// server from starting. See [Check].
func openS3(_ context.Context, u *url.URL) (Bucket, error) {
	q := u.Query()
	bucket := strings.Trim(u.Path, "/")
	prefix := strings.Trim(q.Get("prefix"), "/")
	secure, err := strconv.ParseBool(orText(q.Get("tls"), "true"))
	secret, _ := u.User.Password()
	switch {
	case err != nil:
		return nil, problem.Refuse("bucket", "tls=true or tls=false", "%.40q is not a setting of tls", q.Get("tls"))
	case u.Host == "" || bucket == "" || strings.Contains(bucket, "/"):
		return nil, problem.Refuse("bucket", "give s3://KEY:SECRET@host:port/bucket?region=…&prefix=…", "an S3 URL names a host and a bucket")
	case (u.User.Username() == "") != (secret == ""):
		return nil, problem.Refuse("bucket", "give s3://KEY:SECRET@host, or neither and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "the key or the secret is missing")
	}
	if prefix != "" {
		if err := checkKey(prefix); err != nil {
			return nil, problem.Refuse("bucket", "prefix=weir", "the prefix cannot be the beginning of a key")
		}
	}
	for name := range q {
		if name != "tls" && name != "prefix" && name != "region" {
			return nil, problem.Refuse("bucket", "tls, region or prefix", "there is no setting %.40q of an S3 bucket", name)
		}
	}
	creds := credentials.NewEnvAWS()
	if u.User.Username() != "" {
		creds = credentials.NewStaticV4(u.User.Username(), secret, "")
	}
	conns := transport(secure)
	client, err := minio.NewCore(u.Host, &minio.Options{
		Creds: creds, Secure: secure, Region: orText(q.Get("region"), region(u.Host)), Transport: conns, MaxRetries: tries,
	})
	if err != nil { // the error names the host only
		return nil, problem.Refuse("bucket", "give s3://KEY:SECRET@host:port/bucket", "%v", err)
	}
	s := &s3{core: *client, bucket: bucket, name: "s3://" + u.Host + "/" + bucket, conns: conns}
	if prefix != "" {
		s.prefix = prefix + "/"
		s.name += "/" + prefix
	}
	return s, nil
}

// region returns a region for endpoints that have none, which saves a request. It returns
// "" for Amazon, which is asked.
func region(host string) string {
	if strings.Contains(host, "amazonaws.") {
		return ""
	}
	return "us-east-1"
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (s *s3) Name() string { return s.name }

// Close implements io.Closer.
func (s *s3) Close() error {
	s.conns.CloseIdleConnections()
	return nil
}

func (s *s3) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	if _, _, err := mime.ParseMediaType(contentType); err != nil {
		contentType = plainBytes
	}
	source := &source{r: exactly(r, size)}
	small, err := io.ReadAll(io.LimitReader(source, smallBytes))
	if err != nil {
		return Object{}, fmt.Errorf("put %s: %w", key, err)
	}
	var info minio.UploadInfo
	if len(small) < smallBytes {
		info, err = s.putSmall(ctx, key, small, contentType)
	} else {
		info, err = s.core.Client.PutObject(ctx, s.bucket, s.prefix+key, io.MultiReader(bytes.NewReader(small), source), size,
			minio.PutObjectOptions{ContentType: contentType, PartSize: partBytes, NumThreads: 1})
	}
	switch {
	case source.err != nil: // the client may have replaced the error
		return Object{}, fmt.Errorf("put %s: %w", key, source.err)
	case err != nil:
		return Object{}, s.wrap("put", key, err)
	}
	return Object{Key: key, Size: info.Size, ContentType: contentType, ETag: info.ETag, ModifiedAt: info.LastModified}, nil
}

// putSmall stores an object that is in memory: it can be sent again, and the endpoint
// compares it with its hash.
func (s *s3) putSmall(ctx context.Context, key string, body []byte, contentType string) (minio.UploadInfo, error) {
	sum := sha256.Sum256(body)
	return s.core.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(body), int64(len(body)), "", hex.EncodeToString(sum[:]),
		minio.PutObjectOptions{ContentType: contentType, DisableContentSha256: true}) // the hash of the whole replaces one per chunk
}

func (s *s3) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Object, error) {
	if err := checkKey(key); err != nil {
		return nil, Object{}, err
	}
	if length == 0 {
		return s.nothing(ctx, key)
	}
	var opts minio.GetObjectOptions
	offset = max(offset, 0)
	var err error
	switch {
	case length > 0:
		err = opts.SetRange(offset, offset+length-1)
	case offset > 0:
		err = opts.SetRange(offset, 0)
	}
	if err != nil {
		return nil, Object{}, fmt.Errorf("get %s: %w", key, err)
	}
	body, info, header, err := s.core.GetObject(ctx, s.bucket, s.prefix+key, opts)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return s.nothing(ctx, key) // beyond the end
	}
	if err != nil {
		return nil, Object{}, s.wrap("get", key, err)
	}
	object := s.object(info)
	left := info.Size
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if object.Size, err = strconv.ParseInt(total, 10, 64); err != nil {
			_ = body.Close()
			return nil, Object{}, fmt.Errorf("get %s: the bucket does not say how large it is", key)
		}
		left = max(object.Size-offset, 0)
		if length > 0 {
			left = min(left, length)
		}
	}
	return &part{r: body, c: body, left: left}, object, nil
}

// nothing returns an empty part of an existing object.
func (s *s3) nothing(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	object, err := s.Stat(ctx, key)
	if err != nil {
		return nil, Object{}, err
	}
	return io.NopCloser(bytes.NewReader(nil)), object, nil
}

func (s *s3) Stat(ctx context.Context, key string) (Object, error) {
	if err := checkKey(key); err != nil {
		return Object{}, err
	}
	info, err := s.core.Client.StatObject(ctx, s.bucket, s.prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return Object{}, s.wrap("stat", key, err)
	}
	return s.object(info), nil
}

func (s *s3) object(info minio.ObjectInfo) Object {
	return Object{Key: strings.TrimPrefix(info.Key, s.prefix), Size: info.Size, ContentType: info.ContentType, ETag: info.ETag, ModifiedAt: info.LastModified}
}

func (s *s3) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if limit <= 0 {
		limit = listMost
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	opts := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, MaxKeys: min(limit, listMost)}
	if after != "" {
		opts.StartAfter = s.prefix + after
	}
	var found []Object
	for info := range s.core.ListObjectsIter(ctx, s.bucket, opts) {
		if info.Err != nil {
			return nil, s.wrap("list", prefix, info.Err)
		}
		if found = append(found, s.object(info)); len(found) == limit {
			break
		}
	}
	return found, ctx.Err()
}

func (s *s3) Delete(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	doomed := func(yield func(minio.ObjectInfo) bool) {
		for _, key := range keys {
			if !yield(minio.ObjectInfo{Key: s.prefix + key}) {
				return
			}
		}
	}
	results, err := s.core.RemoveObjectsWithIter(ctx, s.bucket, doomed, minio.RemoveObjectsOptions{})
	if err != nil {
		return s.wrap("delete", "", err)
	}
	for r := range results {
		if r.Err != nil && !isMissing(r.Err) {
			err = errors.Join(err, s.wrap("delete", strings.TrimPrefix(r.ObjectName, s.prefix), r.Err))
		}
	}
	return errors.Join(err, ctx.Err())
}

// Copy lets the endpoint copy. That works for objects of up to 5 GiB.
func (s *s3) Copy(ctx context.Context, from, to string) error {
	if err := errors.Join(checkKey(from), checkKey(to)); err != nil {
		return err
	}
	_, err := s.core.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: s.bucket, Object: s.prefix + to}, minio.CopySrcOptions{Bucket: s.bucket, Object: s.prefix + from})
	if err != nil {
		return s.wrap("copy", from, err)
	}
	return nil
}

func (s *s3) Presign(ctx context.Context, method, key string, ttl time.Duration) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	if method != http.MethodGet && method != http.MethodHead && method != http.MethodPut {
		return "", problem.Refuse("method", "GET, HEAD or PUT", "%.20q cannot be presigned", method)
	}
	ask := url.Values{}
	if method == http.MethodGet {
		// A browser that is redirected there saves the file and does not run it.
		ask.Set("response-content-disposition", "attachment")
	}
	u, err := s.core.Presign(ctx, method, s.bucket, s.prefix+key, min(max(ttl, time.Second), presignMost), ask)
	if err != nil {
		return "", s.wrap("presign", key, err)
	}
	return u.String(), nil
}

func (s *s3) Sweep(ctx context.Context, before time.Time) (n int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for upload := range s.core.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		if upload.Err != nil {
			return n, s.wrap("sweep", "", upload.Err)
		}
		if !upload.Initiated.Before(before) {
			continue
		}
		if err := s.core.AbortMultipartUpload(ctx, s.bucket, upload.Key, upload.UploadID); err != nil && !isMissing(err) {
			return n, s.wrap("sweep", upload.Key, err)
		}
		n++
	}
	return n, ctx.Err()
}

// Check stores and removes an object, to test whether a bucket can be used.
func Check(ctx context.Context, b Bucket) error {
	const key, text = "weir-check", "This object may be deleted."
	if _, _, err := Upload(ctx, b, key, strings.NewReader(text), int64(len(text)), "text/plain"); err != nil {
		return err
	}
	return b.Delete(ctx, key)
}

func isMissing(err error) bool {
	code := minio.ToErrorResponse(err).Code
	return code == minio.NoSuchKey || code == minio.NoSuchUpload
}

// wrap translates an error of the endpoint.
func (s *s3) wrap(op, key string, err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case isMissing(err), op == "stat" && answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket:
		return missing(op, key)
	case answer.Code == minio.NoSuchBucket:
		return &problem.Problem{Kind: problem.Failed, Field: "bucket", What: "there is no bucket " + s.name, Next: "create it, or change the setting bucket", Err: err}
	case answer.StatusCode == http.StatusForbidden:
		return &problem.Problem{Kind: problem.Failed, Field: "bucket", What: s.name + " refuses us: " + answer.Code, Next: "check the key, the secret and its rights", Err: err}
	case answer.StatusCode >= http.StatusInternalServerError:
		return &problem.Problem{Kind: problem.Unreachable, What: fmt.Sprintf("%s %s: %s answers %d %s", op, key, s.name, answer.StatusCode, answer.Code), Next: "look at the store of the bucket, then try again", Err: err}
	}
	if away := new(net.OpError); errors.As(err, &away) {
		return &problem.Problem{Kind: problem.Unreachable, What: fmt.Sprintf("%s %s: %s does not answer: %v", op, key, s.name, away.Err), Next: "look at the store of the bucket, then try again", Err: err}
	}
	return fmt.Errorf("%s %s: %w", op, key, err)
}
