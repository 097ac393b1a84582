package workspaces

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/workspace"
)

// visit is a browser within the host of one workspace.
type visit struct {
	base   string
	cookie string
	client *http.Client
}

// enter lets a user into a workspace whose host is at a server. That does not wake the
// workspace.
func enter(ctx context.Context, store *workspace.Store, by auth.Subject, id weir.ID, at workspace.Address, server string) (*visit, error) {
	link, err := store.Open(ctx, by, id, at, "/")
	if err != nil {
		return nil, err
	}
	v := &visit{base: at.URL(id), client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: manyMost, DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", server)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	answer, err := v.get(ctx, link)
	if err != nil {
		return nil, err
	}
	if err := answer.Body.Close(); err != nil {
		return nil, err
	}
	for _, c := range answer.Cookies() {
		v.cookie = c.String()
		if end := bytes.IndexByte([]byte(v.cookie), ';'); end > 0 {
			v.cookie = v.cookie[:end]
		}
	}
	if answer.StatusCode != http.StatusSeeOther || v.cookie == "" {
		return nil, fmt.Errorf("enter a workspace: the server says %s", answer.Status)
	}
	return v, nil
}

func (v *visit) close() { v.client.CloseIdleConnections() }

// get sends a request like a person who opens a page.
func (v *visit) get(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("User-Agent", "Mozilla/5.0 (bench)")
	if v.cookie != "" {
		r.Header.Set("Cookie", v.cookie)
	}
	return v.client.Do(r)
}

var streamOf = regexp.MustCompile(`data-stream="([^"]+)"`)

// wakeMost is the timeout for a workspace to wake.
const wakeMost = time.Minute

// open opens the workspace as a browser does: the waiting page, its stream, and the page
// again, until the workspace is there.
func (v *visit) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, wakeMost)
	defer cancel()
	for {
		answer, err := v.get(ctx, v.base+"/")
		if err != nil {
			return err
		}
		page, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		found := streamOf.FindSubmatch(page)
		if answer.StatusCode != http.StatusServiceUnavailable || found == nil {
			return fmt.Errorf("the workspace answers %s: %s", answer.Status, page)
		}
		if err := v.follow(ctx, v.base+string(found[1])); err != nil {
			return err
		}
	}
}

// follow reads the stream of a waiting page until it says to continue.
func (v *visit) follow(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	answer, err := v.get(ctx, u.String())
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"go":true`)) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the stream of a page that waits: %w", err)
	}
	return nil // the stream ended: the page is loaded again
}
