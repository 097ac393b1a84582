package workflows_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testwait"
)

// ears hear what wakes machines: packets, calls, scripts.
type ears struct {
	packets net.PacketConn
	calls   *httptest.Server
	called  testwait.Text
	// scripts is the folder of the operator, heard the file that its script writes.
	scripts, heard string
}

func newEars(t *testing.T) *ears {
	t.Helper()
	e := &ears{scripts: t.TempDir(), heard: filepath.Join(t.TempDir(), "heard")}
	var err error
	if e.packets, err = net.ListenPacket("udp4", local(0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.packets.Close() })
	e.calls = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing, the test misses
		fmt.Fprintln(&e.called, r.Method, r.URL.Path, string(body))
	}))
	t.Cleanup(e.calls.Close)
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>'%s'\n", e.heard)
	if err := os.WriteFile(filepath.Join(e.scripts, "power-on.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return e
}

// magic waits for a packet and tells whether it is the magic one of an address.
func (e *ears) magic(t *testing.T, mac net.HardwareAddr) bool {
	t.Helper()
	if err := e.packets.SetReadDeadline(time.Now().Add(testwait.Limit)); err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, 2000)
	n, _, err := e.packets.ReadFrom(packet)
	if err != nil {
		t.Fatalf("no packet came: %v", err)
	}
	return bytes.Equal(packet[:n], append(bytes.Repeat([]byte{0xff}, 6), bytes.Repeat(mac, 16)...))
}

// TestSleepersAreWokenAhead schedules a job that needs three nodes which sleep.
// Each is woken before the job is due: by a packet, a script, a call.
func TestSleepersAreWokenAhead(t *testing.T) {
	t.Parallel()
	e := newEars(t)
	w := newWorld(t, "WEIR_WAKE_BROADCAST="+e.packets.LocalAddr().String(), "WEIR_WAKE_SCRIPTS="+e.scripts, "WEIR_WAKE_URLS="+e.calls.URL+"/power/")
	file := w.write("morning.yaml", "name: morning\nsteps:\n  - {key: one, service: lan}\n  - {key: two, service: rack}\n  - {key: three, service: cloud}\n", 0o600)
	boot := map[string]func() *process{}
	for node, flags := range map[string][]string{
		"lan":   {"--wake-mac", "52:54:00:12:34:56"},
		"rack":  {"--wake-script", "power-on.sh", "--wake-arg", "slot-7"},
		"cloud": {"--wake-url", e.calls.URL + "/power/on"},
	} {
		own := w.write("services.yaml", node+": {run: ['true']}\n", 0o600)
		boot[node] = func() *process { return w.agent(node, "--services-file", own) }
		machine := boot[node]()
		w.weir(append([]string{"node", "set", node}, flags...)...)
		machine.stop()
	}

	// A node that was not seen for 30 s sleeps. The job is not due for minutes.
	w.weir("run", file, "--at", "+4m")
	job := w.newest("morning")
	if !e.magic(t, net.HardwareAddr{0x52, 0x54, 0, 0x12, 0x34, 0x56}) {
		t.Error("the packet is not the magic one of the node")
	}
	testwait.Until(t, "the script", func() bool { text, _ := os.ReadFile(e.heard); return string(text) == "rack slot-7\n" })
	testwait.Until(t, "the call", func() bool { return e.called.String() == "POST /power/on {\"node\":\"cloud\"}\n" })
	w.eventually("the events of three nodes that were called before the job was due", `
		select count(distinct v.subject) = 3 from weir.event v join weir.job j on j.id = $1::uuid where v.kind = 'node' and v.type = 'wake_called' and v.at < j.due`, job)

	// Who waits for it now hears of it.
	hurry := w.write("hurry.yaml", "name: hurry\nsteps:\n  - {key: now, service: lan}\n", 0o600)
	w.weir("run", hurry)
	if why := w.weir("why", w.newest("hurry")+"/now"); !strings.Contains(why, "waiting for node lan to wake") {
		t.Errorf("why says\n%s", why)
	}

	// The machines come up.
	for _, machine := range boot {
		machine()
	}
	w.eventually("three nodes that woke", `select count(distinct a.subject) = 3 from weir.event w join weir.event a on a.subject = w.subject and a.seq > w.seq
		where w.kind = 'node' and w.type = 'waking' and a.kind = 'node' and a.type = 'awake'`)
	if state, tasks := w.ends(w.newest("hurry")); state != "done" {
		t.Errorf("the job that waited is %s:\n%s", state, tasks)
	}
	// Four minutes are long for a test.
	if _, err := w.db.Pool.Exec(t.Context(), `update flow.jobs set scheduled_at = now() where id = $1`, job); err != nil {
		t.Fatal(err)
	}
	if state, tasks := w.ends(job); state != "done" {
		t.Errorf("the job is %s:\n%s", state, tasks)
	}
}
