package picture

import _ "embed"

// CSS is the part of the page's stylesheet that colours the pictures.
//
//go:embed picture.css
var CSS []byte
