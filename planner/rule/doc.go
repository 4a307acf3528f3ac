// Package rule rewrites logical plans into equivalent and better ones. Rules lists the rules in the
// order in which they run. Each rule has a file of its own, which explains what the rule does, why
// the new plan is equivalent, and where it must not fire, with an example.
//
// A rule is a function over the whole statement. A rule costs nothing for a statement that cannot
// use it: Applies decides by what the binder counted.
package rule
