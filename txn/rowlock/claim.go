package rowlock

import "context"

// A claim is a lock in mode Update of a key that belongs to a group. Its owner learns which keys of
// the group others have claimed before it. Claims are numbered as they are granted, so of two
// owners the later one sees the earlier one's claim, and never the reverse: the two do not wait for
// each other. What the keys of a group have to do with each other is the caller's affair.

// Claim locks a key in mode Update, and returns the keys of the group that other owners have
// claimed before and not given back. An owner that has claimed the key keeps its number. The errors
// are those of Lock.
func (t *Table) Claim(ctx context.Context, o *Owner, group string, key []byte,
	req Request) (others []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	req.Mode = Update
	t.mu.Lock()
	defer t.mu.Unlock()
	w, _, err := t.ask(o, key, false, req)
	if err != nil {
		return nil, err
	}
	if w != nil {
		t.mu.Unlock()
		err = t.wait(ctx, w)
		t.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	mine := t.join(o, group, t.entry(key, false))
	for owner, claimed := range t.claims[group] {
		if owner == o {
			continue
		}
		for e, number := range claimed {
			if number < mine {
				others = append(others, e.key)
			}
		}
	}
	return others, nil
}

// join notes an owner's claim of a key that it holds, and returns its number.
func (t *Table) join(o *Owner, group string, e *entry) uint64 {
	e.group = group
	if t.claims == nil {
		t.claims = map[string]map[*Owner]map[*entry]uint64{}
	}
	owners := t.claims[group]
	if owners == nil {
		owners = map[*Owner]map[*entry]uint64{}
		t.claims[group] = owners
	}
	if owners[o] == nil {
		owners[o] = map[*entry]uint64{}
	}
	if owners[o][e] == 0 {
		t.claimed++
		owners[o][e] = t.claimed
	}
	return owners[o][e]
}

// unclaim forgets the claim of an owner that does not hold the key any more, if it had one.
func (t *Table) unclaim(e *entry, o *Owner) {
	owners := t.claims[e.group]
	if _, claimed := owners[o][e]; !claimed {
		return
	}
	if delete(owners[o], e); len(owners[o]) > 0 {
		return
	}
	if delete(owners, o); len(owners) == 0 {
		delete(t.claims, e.group)
	}
}
