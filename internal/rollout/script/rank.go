package script

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

var versionText = regexp.MustCompile(`^[0-9]+([._][0-9]+)*$`)

// rankBits is what an int64 has without its sign.
const rankBits = 63

// lengthBits say how many bits a component has: up to 63.
const lengthBits = 6

// Rank is a number that has the order of versions: 7 < 7.1 < 10 < 20260101120000.
//
//	7.1 = 000011 11 │ 000001 │ 000000 …     length, value without its first bit │ length, value │ nothing
//
// The longer number is the greater one, so length before value keeps the order.
// A number that is missing is 0, and 0 has no bit that is set, so what is left
// of the 63 bits stands for it.
func Rank(version string) (int64, error) {
	parts, err := components(version)
	if err != nil {
		return 0, err
	}
	var rank uint64
	used := 0
	put := func(value uint64, width int) {
		rank, used = rank<<width|value, used+width
	}
	for _, part := range parts {
		n := bits.Len64(part)
		if used+lengthBits+max(n-1, 0) > rankBits {
			return 0, &Fault{What: fmt.Sprintf("version %s is too long to be put in order", version), Next: "use fewer or smaller numbers: up to 17 digits, or about seven short numbers with dots"}
		}
		put(uint64(n), lengthBits) // #nosec G115 -- a number of bits is 0 to 64
		if n > 1 {
			put(part&^(1<<(n-1)), n-1)
		}
	}
	return int64(rank << (rankBits - used)), nil // #nosec G115 -- 63 bits at most
}

// Canonical writes a version in its shortest form: 001 is 1, 1_2 is 1.2, 1.0 is 1.
func Canonical(version string) (string, error) {
	parts, err := components(version)
	if err != nil {
		return "", err
	}
	words := make([]string, len(parts))
	for i, part := range parts {
		words[i] = strconv.FormatUint(part, 10)
	}
	return strings.Join(words, "."), nil
}

// components are the numbers of a version, without zeros at its end.
func components(version string) ([]uint64, error) {
	if !versionText.MatchString(version) {
		return nil, &Fault{What: fmt.Sprintf("%q is not a version", excerpt(version)), Next: "write numbers with dots, as 7, 7.1 or 20260101120000"}
	}
	var parts []uint64
	for word := range strings.FieldsFuncSeq(version, func(r rune) bool { return r == '.' || r == '_' }) {
		part, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, &Fault{What: fmt.Sprintf("version %s has a number that is too large: %s", excerpt(version), excerpt(word)), Next: "use up to 17 digits"}
		}
		parts = append(parts, part)
	}
	for len(parts) > 1 && parts[len(parts)-1] == 0 {
		parts = parts[:len(parts)-1]
	}
	return parts, nil
}
