// Package rolloutpages has the pages of rollouts and of the databases that they change.
// How a page is made stands in the doc of package web.
package rolloutpages
