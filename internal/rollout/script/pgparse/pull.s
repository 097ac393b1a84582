// This file lets functions without a body be declared: go:linkname gives them one.
