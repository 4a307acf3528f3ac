// Package rule rewrites logical plans into equal and better ones. Rules is the list, in the order
// in which they run; each rule has a file of its own with what it does, why that is the same, and
// an example where it must not fire.
//
// A rule is a function over the whole statement. Rules whose subject a statement does not have cost
// nothing: Applies looks at what the binder counted.
package rule
