// Package flowpages has the pages of workflows and of schedules, which start them. It shows the jobs of a
// workflow by package workpages, the one package of pages that another imports.
// How a page is made stands in the doc of package web.
package flowpages
