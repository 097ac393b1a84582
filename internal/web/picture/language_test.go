package picture

import "github.com/weirhq/weir/internal/locale"

// lang is the language of the drawings in tests.
var lang = locale.Pick("en", "")
