package agent

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/node"
)

// A port leads where the operator says, and nowhere else.
func TestForwardRules(t *testing.T) {
	t.Parallel()
	all, err := ParseForwards([]string{"5555={target}", "5556={label.adb}", "6000=192.0.2.9:22", "6001=[2001:db8::1]:22", "8000-8010", "7000=7001"})
	if err != nil {
		t.Fatal(err)
	}
	if got := all.Ports(); got != "5555,5556,6000,6001,8000-8010,7000" {
		t.Errorf("ports %s", got)
	}
	device := node.Device{Serial: "d", Target: "192.0.2.1:5555", Labels: map[string]string{"adb": "7001"}}
	for port, want := range map[int]string{
		5555: "192.0.2.1:5555", 5556: "127.0.0.1:7001", 6000: "192.0.2.9:22", 6001: "[2001:db8::1]:22", 8000: "127.0.0.1:8000",
		8010: "127.0.0.1:8010", 7000: "127.0.0.1:7001",
	} {
		if got, err := all.Address(device, port); err != nil || got != want {
			t.Errorf("%d: %s %v", port, got, err)
		}
	}
	for _, port := range []int{0, 22, 5554, 7001, 7999, 8011, 65535} {
		if got, err := all.Address(device, port); err == nil {
			t.Errorf("%d leads to %s", port, got)
		}
	}
	for _, odd := range []node.Device{
		{Serial: "d"},
		{Serial: "d", Target: "R58"},
		{Serial: "d", Target: ":5555"},
		{Serial: "d", Target: "x:0"},
		{Serial: "d", Target: "x:http", Labels: map[string]string{"adb": "10.0.0.1:22"}},
	} {
		for _, port := range []int{5555, 5556} {
			if got, err := all.Address(odd, port); err == nil {
				t.Errorf("%+v: %d leads to %s", odd, port, got)
			}
		}
	}
}

func TestForwardRulesRefused(t *testing.T) {
	t.Parallel()
	for _, rules := range [][]string{
		{""},
		{"0"},
		{"70000"},
		{"9-8"},
		{"5555=x"},
		{"5555="},
		{"5555={serial}"},
		{"8000-8001={target}"},
		{"5555={label.a}:1"},
		{"5555={label.h}:{label.p}"},
		{"5555=-x:1"},
		{"5555=a b:1"},
		{"5555", "5000-6000"},
		{"5555=host:99999"},
		strings.Split(strings.Repeat("1 ", 33), " "),
	} {
		if got, err := ParseForwards(rules); err == nil {
			t.Errorf("%q is %+v", rules, got)
		}
	}
}
