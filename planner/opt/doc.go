// Package opt holds what the phases of the planner share, so that they need not import each other.
package opt
