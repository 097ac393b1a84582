package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/node"
)

// The recorded files are real output of adb; each expected line is the device that is
// parsed from it.
func TestParseADB(t *testing.T) {
	for file, want := range map[string][]string{
		"adb_mixed.txt": {
			"R58M12ABCDE hub=usb:1-1 map[model:SM_G973F product:beyond1ltexx]",
			"0A041FDD4001XY hub=usb:1-1.4 map[model:Pixel_6 product:oriole]",
			"emulator-5554 hub= map[model:sdk_gphone64_x86_64 product:sdk_gphone64_x86_64]",
			"HT85G1A02381: it is offline",
			"FA79L1A04532: it has not allowed this PC",
			"????????????: this user may not use it",
			"192.168.1.20:5555 hub= map[model:Pixel_5 product:redfin] over the network",
			"adb-R3CN90ABCDE-Xy12zw (2)._adb-tls-connect._tcp hub= map[model:SM_G991B product:o1s] over the network",
			"ZY22XXXXXX: it is in recovery",
		},
		"adb_none.txt":  {},
		"adb_short.txt": {"R58M12ABCDE hub= map[]", "HT85G1A02381: it is offline"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		found, err := parseADB(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		got := []string{}
		for _, f := range found {
			if why, _ := f.unfit(); why != "" {
				got = append(got, f.name+": "+why)
				continue
			}
			d := f.device()
			line := fmt.Sprintf("%s hub=%s %v", d.Target, d.Hub, d.Labels)
			if f.wireless() {
				line += " over the network"
			}
			got = append(got, line)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nnot\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestADBThatDidNotListIsNoEmptyList(t *testing.T) {
	for _, text := range []string{"", "\n", "error: cannot connect to daemon at tcp:5037: Connection refused\n", "adb: usage: unknown command devices\n"} {
		if found, err := parseADB([]byte(text)); err == nil {
			t.Errorf("%q lists %v", text, found)
		}
	}
}

func TestHubOf(t *testing.T) {
	for path, want := range map[string]string{"1-1.2": "usb:1-1", "1-1.4.1": "usb:1-1.4", "3-4": "usb:3", "337641472X": "", "": "", "1-": ""} {
		if got := hubOf(path); got != want {
			t.Errorf("%q: %q, not %q", path, got, want)
		}
	}
}

// fakeADB stands in for the adb program: it prints the given list, and a serial for each
// device that is asked.
func fakeADB(t *testing.T, list string) *ADB {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
echo "$*" >>"` + dir + `/calls"
case "$*" in
"devices -l") cat "` + dir + `/list" ;;
"-s 192.168.1.20:5555 shell getprop ro.serialno") echo 17081FDEE0001A ;;
"-s 192.168.1.21:5555 shell getprop ro.serialno") echo R58M12ABCDE ;;
"-s 192.168.1.22:5555 shell getprop ro.serialno") echo "error: closed" >&2; exit 1 ;;
*) exit 2 ;;
esac
`
	write(t, filepath.Join(dir, "adb"), script, 0o755)
	write(t, filepath.Join(dir, "list"), list, 0o644)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	source, err := Open("adb")
	if err != nil {
		t.Fatal(err)
	}
	return source.(*ADB)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func serials(devices []node.Device) string {
	var all []string
	for _, d := range devices {
		all = append(all, d.Serial+"@"+d.Target)
	}
	return strings.Join(all, " ")
}

// A device that is reached over the network is known by the serial of its hardware. If it
// is plugged in as well, it is listed once, by its cable.
func TestADBKnowsDevicesByTheirHardware(t *testing.T) {
	a := fakeADB(t, `List of devices attached
192.168.1.21:5555 device model:SM_G973F transport_id:8
R58M12ABCDE device usb:1-1.2 model:SM_G973F transport_id:3
192.168.1.20:5555 device model:Pixel_5 transport_id:7
192.168.1.22:5555 device model:Pixel_5 transport_id:9
`)
	for range 2 {
		got, err := a.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s := serials(got.Devices); s != "17081FDEE0001A@192.168.1.20:5555 R58M12ABCDE@R58M12ABCDE" {
			t.Errorf("got %s", s)
		}
		if len(got.Skipped) != 2 || !strings.Contains(fmt.Sprint(got.Skipped), "error: closed") || !strings.Contains(fmt.Sprint(got.Skipped), "plugged in too") {
			t.Errorf("skipped %v", got.Skipped)
		}
	}
	calls, err := os.ReadFile(filepath.Join(filepath.Dir(a.run.file), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(calls), "-s 192.168.1.20:5555"); n != 1 {
		t.Errorf("it was asked %d times over one connection", n)
	}
}

func TestADBThatFailsIsAnError(t *testing.T) {
	a := fakeADB(t, "error: cannot connect to daemon\n")
	if got, err := a.List(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot connect to daemon") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNoADB(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Open("adb"); err == nil || !strings.Contains(err.Error(), "no program adb in PATH") {
		t.Errorf("got %v", err)
	}
}

func FuzzParseADB(f *testing.F) {
	for _, file := range []string{"adb_mixed.txt", "adb_none.txt", "adb_short.txt", "adb_broken.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := parseADB(text)
		for _, one := range found {
			if one.name == "" && err == nil {
				t.Errorf("a device without a name: %+v", one)
			}
			one.unfit()
			if d := one.device(); d.Check() == nil && d.Serial == "" {
				t.Errorf("got %+v", d)
			}
		}
	})
}
