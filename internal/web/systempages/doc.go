// Package systempages has the pages of the whole: the overview, the timeline, the health, the settings and the secrets.
// How a page is made stands in the doc of package web.
package systempages
