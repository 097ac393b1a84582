//go:build chaos && unix

package chaos

import "testing"

// TestLongExtremeValuesOverHTTP sends every extreme value to every field of the API.
func TestLongExtremeValuesOverHTTP(t *testing.T) { extremesOverHTTP(t, 1) }
