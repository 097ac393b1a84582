// Package workspacepages has the pages of workspaces: the list, one of them with its log and output, and the policy.
// How a page is made stands in the doc of package web.
package workspacepages
