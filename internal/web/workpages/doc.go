// Package workpages has the pages of tasks and jobs, with what they print and leave behind.
// How a page is made stands in the doc of package web.
package workpages
