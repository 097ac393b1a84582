package webtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/weirhq/weir/internal/testdb"
)

// Main runs the tests of a package; use it as the whole of TestMain.
func Main(m *testing.M) { testdb.Main(suite{m}) }

// suite ends the browser when the tests have ended.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	defer chromium.close()
	return s.m.Run()
}

// chromium is the one process that all tests share: it takes a second and more to
// start. Each test has a window of its own, with cookies and storage of its own.
var chromium process

type process struct {
	sync.Mutex
	ctx  context.Context
	stop func()
}

// open is the context of the process, which is started if need be.
func (p *process) open(t testing.TB) context.Context {
	t.Helper()
	p.Lock()
	defer p.Unlock()
	if p.ctx != nil && p.ctx.Err() == nil {
		return p.ctx
	}
	// The options of the library that fit a machine without a screen, and none
	// of those that talk to the network. No motion, because an icon that turns is
	// painted sixty times a second, without a graphics card, in every window.
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findChromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.WindowSize(1280, 800))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(ctx)
	p.ctx, p.stop = ctx, func() {
		cancel()
		stop()
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil {
		p.stop()
		t.Fatalf("start Chromium: %v", err)
	}
	return p.ctx
}

func (p *process) close() {
	p.Lock()
	defer p.Unlock()
	if p.ctx == nil {
		return
	}
	end, done := context.WithTimeout(p.ctx, 10*time.Second)
	defer done()
	if err := chromedp.Cancel(end); err != nil {
		fmt.Fprintln(os.Stderr, "close the browser:", err)
	}
	p.stop()
}
