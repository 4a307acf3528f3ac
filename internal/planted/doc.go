// Package planted names bugs that can be planted in the transaction layer and above it, so that tests
// can show that they would be noticed: random histories (tests/history, and tests/sqlhistory for those
// above) and a check for each clause of the protocol (txn's checklist_test.go). Without the build tag
// "planted" there is nothing to plant: Is is a constant false and the compiler drops every branch that
// asks it.
//
// It owns the names and the switch. What each bug does is in the one place that asks for it.
package planted
