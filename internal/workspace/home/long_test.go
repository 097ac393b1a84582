//go:build chaos

package home_test

import "testing"

// TestLongManyFiles is TestManyFiles with as many as a home may well have.
func TestLongManyFiles(t *testing.T) { many(t, 100_000) }
