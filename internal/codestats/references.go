package main

import (
	"go/ast"
	"slices"
)

// references are the pairs of files of one package of which the first names what the second
// declares.
type references struct {
	names []string
	to    []map[int]bool
}

func referencesOf(p *goPackage) *references {
	r := &references{}
	number := map[string]int{}
	for i, f := range p.files {
		r.names = append(r.names, f.name)
		r.to = append(r.to, map[int]bool{})
		number[p.fset.Position(f.tree.Pos()).Filename] = i
	}
	for i, f := range p.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			object := p.info.Uses[id]
			if object == nil || object.Pkg() == nil || object.Pkg().Path() != p.ImportPath {
				return true
			}
			if j, ok := number[p.fset.Position(object.Pos()).Filename]; ok && j != i {
				r.to[i][j] = true
			}
			return true
		})
	}
	return r
}

func (r *references) count() (n int) {
	for _, to := range r.to {
		n += len(to)
	}
	return n
}

// back returns the references that run back in the best order found: a file comes before those that
// it names. Finding the best one is NP-hard; starting from the order of Eades, Lin and Smyth
// (1993), single files are moved to where they cost least until none gets better.
func (r *references) back() (pairs [][2]int) {
	order := r.greedy()
	for improved := true; improved; {
		improved = false
		for at := range order {
			if to := r.bestPlace(order, at); to != at {
				file := order[at]
				order = slices.Insert(slices.Delete(order, at, at+1), to, file)
				improved = true
			}
		}
	}
	place := make([]int, len(order))
	for i, file := range order {
		place[file] = i
	}
	for from, to := range r.to {
		for target := range to {
			if place[target] < place[from] {
				pairs = append(pairs, [2]int{from, target})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return pairs
}

// greedy takes sinks to the end, sources to the front, and then the file with the largest surplus
// of references out of it.
func (r *references) greedy() []int {
	left := map[int]bool{}
	for i := range r.to {
		left[i] = true
	}
	var front, end []int
	for len(left) > 0 {
		best, surplus := -1, 0
		for i := range r.to {
			if !left[i] {
				continue
			}
			out, in := r.degrees(i, left)
			if out == 0 {
				end = append(end, i)
				delete(left, i)
				best = -1
				break
			}
			if in == 0 {
				out += len(r.to)
			}
			if best < 0 || out-in > surplus {
				best, surplus = i, out-in
			}
		}
		if best >= 0 {
			front = append(front, best)
			delete(left, best)
		}
	}
	slices.Reverse(end)
	return append(front, end...)
}

func (r *references) degrees(file int, among map[int]bool) (out, in int) {
	for other := range among {
		if r.to[file][other] {
			out++
		}
		if r.to[other][file] {
			in++
		}
	}
	return out, in
}

// bestPlace is where the file at a position of the order has the fewest references back.
func (r *references) bestPlace(order []int, at int) int {
	file, best, place, cost := order[at], 0, at, 0
	try := func(other, to int) {
		if cost < best {
			best, place = cost, to
		}
	}
	// before order[to]: what order[to] names of file runs back, not vice versa
	for to := at - 1; to >= 0; to-- {
		other := order[to]
		cost += one(r.to[other][file]) - one(r.to[file][other])
		try(other, to)
	}
	cost = 0
	for to := at + 1; to < len(order); to++ {
		other := order[to]
		cost += one(r.to[file][other]) - one(r.to[other][file])
		try(other, to)
	}
	return place
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (f *figures) addReferences(p *goPackage) {
	r := referencesOf(p)
	back := r.back()
	f.references = append(f.references, packageReferences{p.rel(), r.count(), len(back)})
	for _, pair := range back {
		f.found("reference back in "+p.rel(), "%s -> %s", r.names[pair[0]], r.names[pair[1]])
	}
}
