package deparse

import "slices"

// slot is a column that an entry of FROM shows: its name, and for a merged column the columns of
// both sides, which must have that name too.
type slot struct {
	name  *string
	sides []*slot
	fixed bool // the name is chosen
	of    *relation
	index int // in the columns of the relation
}

// keep marks the columns that a merged column stands for.
func (s *slot) keep() {
	if s.of != nil {
		if s.of.kept == nil {
			s.of.kept = map[int]bool{}
		}
		s.of.kept[s.index] = true
	}
	for _, side := range s.sides {
		side.keep()
	}
}

// fix gives the column and those below it a name.
func (s *slot) fix(name string) {
	if s.of != nil && *s.name != name {
		s.of.listed = true
	}
	*s.name, s.fixed = name, true
	for _, side := range s.sides {
		side.fix(name)
	}
}

// mergedNames chooses the names of merged columns in one FROM. Where a merged column is an
// expression over both sides (FULL JOIN USING), nothing but its plain name refers to it:
//
//	SELECT * FROM a FULL JOIN b USING (x), c   -- c has a column x too
//	SELECT x, …, c.x_1 FROM a FULL JOIN b USING (x), c c(x_1)
//
// Then the names of all merged columns differ from each other and from every other name in FROM,
// which PostgreSQL's set_using_names and set_relation_column_names do in the same way.
type mergedNames struct {
	used   []string // names of merged columns
	merged map[*joinExpr][]*slot
	shown  map[*relation][]*slot
}

// nameMerged makes the names of merged columns unique where they must be, and marks the columns
// that must keep their names.
func nameMerged(from []any) {
	m := &mergedNames{merged: map[*joinExpr][]*slot{}, shown: map[*relation][]*slot{}}
	for _, it := range from {
		m.slots(it)
	}
	for _, slots := range m.merged {
		for _, s := range slots {
			s.keep()
		}
	}
	if !slices.ContainsFunc(from, combines) {
		return
	}
	for _, it := range from {
		m.joins(it)
	}
	for _, it := range from {
		m.relations(it)
	}
}

// combines reports whether there is a join without an alias whose merged column combines its sides.
func combines(item any) bool {
	j, ok := item.(*joinExpr)
	return ok && (j.combines && j.alias == nil || combines(j.left) || combines(j.right))
}

// slots returns the columns of an entry of FROM, by the names that were written.
func (m *mergedNames) slots(item any) []*slot {
	switch it := item.(type) {
	case *relation:
		return m.columns(it)
	case *joinExpr:
		left, right := m.slots(it.left), m.slots(it.right)
		it.using = slices.Clone(it.using)
		out := make([]*slot, len(it.using))
		for i := range it.using {
			name := it.using[i]
			is := func(s *slot) bool { return *s.name == name }
			l, r := slices.IndexFunc(left, is), slices.IndexFunc(right, is)
			out[i] = &slot{name: &it.using[i], sides: []*slot{left[l], right[r]}}
			left, right = slices.Delete(left, l, l+1), slices.Delete(right, r, r+1)
		}
		m.merged[it] = slices.Clone(out)
		if it.alias != nil {
			return m.columns(it.alias)
		}
		return slices.Concat(out, left, right)
	}
	return nil
}

func (m *mergedNames) columns(rel *relation) []*slot {
	rel.columns = slices.Clone(rel.columns)
	out := make([]*slot, len(rel.columns))
	for i := range rel.columns {
		out[i] = &slot{name: &rel.columns[i], of: rel, index: i}
	}
	m.shown[rel] = out
	return slices.Clone(out)
}

// joins names the merged columns of a join, then of the joins within: a name of an outer join is
// that of the columns that it merges, and so is one that the alias of a join has.
func (m *mergedNames) joins(item any) {
	j, ok := item.(*joinExpr)
	if !ok {
		return
	}
	for i, s := range m.merged[j] {
		as := s
		if j.alias != nil {
			as = m.shown[j.alias][i]
		}
		if !as.fixed && !s.fixed {
			as.fix(m.choose(*as.name, nil))
			m.used = append(m.used, *as.name)
		}
		s.fix(*as.name)
	}
	m.joins(j.left)
	m.joins(j.right)
}

// relations names the other columns of the entries.
func (m *mergedNames) relations(item any) {
	switch it := item.(type) {
	case *relation:
		m.rest(it)
	case *joinExpr:
		m.relations(it.left)
		m.relations(it.right)
		if it.alias != nil {
			m.rest(it.alias)
		}
	}
}

func (m *mergedNames) rest(rel *relation) {
	var own []string
	for _, s := range m.shown[rel] {
		if s.fixed {
			own = append(own, *s.name)
		}
	}
	for _, s := range m.shown[rel] {
		if !s.fixed {
			s.fix(m.choose(*s.name, own))
			own = append(own, *s.name)
		}
	}
}

// choose returns a name that no merged column and none of own has.
func (m *mergedNames) choose(name string, own []string) string {
	out := name
	for i := 1; slices.Contains(m.used, out) || slices.Contains(own, out); i++ {
		out = name + "_" + position(i)
	}
	return out
}
