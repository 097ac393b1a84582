// Package site is what all pages of the dashboard share: the request with who asks, the types
// of pages and actions, the set-up with the stores, lists and their paging, fields of forms,
// addresses of pages, and the table of events.
//
// Contract:
//   - It serves nothing: package web does, and asks for the right of each route.
//   - It knows no domain but by the address of its pages. What one domain alone shows stands
//     in the package of its pages; components without a store stand in package ui.
package site
