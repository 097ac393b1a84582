package blobtest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Proxy stands in front of the S3 server. Its faults affect the requests that Match
// accepts, or all. Change it between requests only.
type Proxy struct {
	mu sync.Mutex
	// fault is the fault of the next requests, times their number: -1 means all.
	fault Fault
	times int
	match func(*http.Request) bool
	seen  int
}

// Fault is a fault of a store or a network. The zero value is no fault.
type Fault struct {
	// Status answers with an error instead of calling the server.
	Status int
	// Lie answers a PUT with success without storing anything.
	Lie bool
	// CutRequest closes the connection after that many bytes of the request's body.
	CutRequest int64
	// CutResponse closes the connection after that many bytes of the answer's body.
	CutResponse int64
	// Flip changes one bit of the byte number Flip-1 of the answer's body.
	Flip int64
	// Hang waits until the client disconnects.
	Hang bool
}

// S3Proxy is [S3] with a proxy in front.
func S3Proxy(t testing.TB) (string, *Proxy) {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("start the S3 server: %v", err)
	}
	bucket := newBucket(t, s.address)
	p := new(Proxy)
	behind := &url.URL{Scheme: "http", Host: s.address}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(behind)
			r.Out.Host = r.In.Host // the signature covers it
		},
		ModifyResponse: p.spoil,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       silent(),
		Transport:      &http.Transport{DisableKeepAlives: true},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, forward) }))
	server.Config.ErrorLog = silent()
	server.Start()
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	return urlOf(host, bucket), p
}

// Set applies a fault to the next times requests (-1: all) that match accepts (nil: any).
func (p *Proxy) Set(f Fault, times int, match func(*http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.times, p.match, p.seen = f, times, match, 0
}

// Met returns how many requests the fault has affected since it was set.
func (p *Proxy) Met() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *Proxy) next(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times == 0 || p.match != nil && !p.match(r) {
		return Fault{}
	}
	p.times--
	p.seen++
	return p.fault
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	f := p.next(r)
	switch {
	case f.Hang:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(f.Status)
		return
	case f.Lie && r.Method == http.MethodPut:
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
		return
	case f.CutRequest > 0:
		r.Body = &cut{r.Body, f.CutRequest}
	}
	if f.CutResponse > 0 || f.Flip > 0 {
		r = r.WithContext(withFault(r.Context(), f))
	}
	forward.ServeHTTP(w, r)
}

// spoil changes an answer.
func (p *Proxy) spoil(r *http.Response) error {
	f, ok := faultOf(r.Request.Context())
	switch {
	case !ok:
	case f.CutResponse > 0:
		r.Body = &cut{r.Body, f.CutResponse}
	case f.Flip > 0:
		r.Body = &flip{r.Body, f.Flip}
	}
	return nil
}

// cut fails after a number of bytes.
type cut struct {
	io.ReadCloser
	left int64
}

func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, net.ErrClosed
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// flip changes one byte.
type flip struct {
	io.ReadCloser
	left int64
}

func (f *flip) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if f.left > 0 && f.left <= int64(n) {
		p[f.left-1] ^= 1
	}
	f.left -= int64(n)
	return n, err
}
