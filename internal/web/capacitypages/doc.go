// Package capacitypages has the pages of what work runs on: pools, nodes and workers.
// How a page is made stands in the doc of package web.
package capacitypages
