package activity

import (
	"hash/maphash"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// A page that repeats the same request makes it on its own.
const (
	repeated = 10 * time.Minute
	// remembered is how many paths of a workspace are kept.
	remembered = 256
)

var seed = maphash.MakeSeed()

// asked are the paths that a page of a workspace requested recently.
type asked map[uint64]time.Time

// Request records the use of a workspace by a request, unless a page makes the request on
// its own.
func (m *Meter) Request(id weir.ID, r *http.Request) {
	if !background(r) || m.fresh(id, r.URL.Path) {
		m.Use(id, HTTP)
	}
}

// background reports whether the script of a page makes the request: the cause may be a
// click, or it may be a poll. On plain http browsers do not send Sec-Fetch headers, so
// the Accept header decides.
func background(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode != "navigate"
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") && !strings.Contains(r.Header.Get("Accept"), "text/html")
}

// fresh reports whether a path was not requested recently, and remembers it.
func (m *Meter) fresh(id weir.ID, path string) bool {
	now := m.config.Now()
	key := maphash.String(seed, path)
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.asked[id]
	if list == nil {
		list = asked{}
		m.asked[id] = list
	}
	at, before := list[key]
	if len(list) >= remembered && !before {
		list.forget(now)
		list.shrink()
	}
	list[key] = now
	return !before || now.Sub(at) > repeated
}

// forget drops old entries.
func (list asked) forget(now time.Time) {
	for key, at := range list {
		if now.Sub(at) > repeated {
			delete(list, key)
		}
	}
}

// shrink makes room by dropping arbitrary entries.
func (list asked) shrink() {
	for key := range list {
		if len(list) < remembered {
			return
		}
		delete(list, key)
	}
}
