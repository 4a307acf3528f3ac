package trigram

import "slices"

// Word finds how similar a text is to the most similar extent of another text.
type Word struct {
	// Strict: an extent begins and ends with a word, else with any trigram.
	Strict bool
	// Enough ends the search as soon as the similarity is this much; 0 searches for the greatest.
	Enough float64
	// Step is called with the work done, in bytes.
	Step func(bytes int) error
}

// Similarity returns the greatest similarity of the trigrams of a with those of an extent of b. It
// takes time quadratic in b at worst.
func (w Word) Similarity(a, b string) (float32, error) {
	mine, err := sequence(a, nil, w.Step)
	if err != nil {
		return 0, err
	}
	s := wordSearch{Word: w}
	theirs, err := sequence(b, &s.bounds, w.Step)
	if err != nil {
		return 0, err
	}
	if err := s.enumerate(unique(mine), theirs); err != nil {
		return 0, err
	}
	err = s.run()
	return s.best, err
}

// wordSearch is the state of a search. The extent that is looked at is b[lower:i+1].
type wordSearch struct {
	Word
	bounds []bound
	// number has the number of each trigram of b: equal trigrams have the same. found marks those
	// that a has, wanted is how many different ones a has.
	number []int
	found  []bool
	wanted int
	// at is the last place of each trigram in the extent, -1 for none.
	at []int
	// distinct is how many different trigrams the extent has, common how many of them a has.
	lower, distinct, common int
	best                    float32
}

func (s *wordSearch) enumerate(mine, theirs []Trigram) error {
	s.wanted = len(mine)
	all := unique(slices.Concat(mine, theirs))
	s.found, s.at = make([]bool, len(all)), slices.Repeat([]int{-1}, len(all))
	for _, t := range mine {
		i, _ := slices.BinarySearchFunc(all, t, compare)
		s.found[i] = true
	}
	s.number = make([]int, len(theirs))
	for i, t := range theirs {
		s.number[i], _ = slices.BinarySearchFunc(all, t, compare)
		if err := s.Step(len(t)); err != nil {
			return err
		}
	}
	return nil
}

func (s *wordSearch) run() error {
	if s.lower = -1; s.Strict {
		s.lower = 0
	}
	for i, n := range s.number {
		if s.lower >= 0 || s.found[n] {
			if s.at[n] < 0 {
				s.distinct++
				if s.found[n] {
					s.common++
				}
			}
			s.at[n] = i
		}
		ends := s.found[n]
		if s.Strict {
			ends = s.bounds[i]&last != 0
		}
		if !ends {
			continue
		}
		if s.lower < 0 {
			s.lower, s.distinct = i, 1
		}
		if err := s.Step(i - s.lower + 1); err != nil {
			return err
		}
		s.best = max(s.best, s.shorten(i))
		if s.enough(s.best) {
			return nil
		}
	}
	return nil
}

func (s *wordSearch) enough(similarity float32) bool {
	return s.Enough > 0 && float64(similarity) >= s.Enough
}

// shorten moves the lower bound of the extent that ends at upper to where the similarity is
// greatest, and returns that.
func (s *wordSearch) shorten(upper int) float32 {
	best := ratio(s.common, s.wanted, s.distinct)
	common, distinct, previous := s.common, s.distinct, s.lower
	for k := previous; k <= upper; k++ {
		if !s.Strict || s.bounds[k]&first != 0 {
			if r := ratio(common, s.wanted, distinct); r > best {
				best = r
				s.common, s.distinct, s.lower = common, distinct, k
			}
			if s.enough(best) {
				break
			}
		}
		if n := s.number[k]; s.at[n] == k {
			distinct--
			if s.found[n] {
				common--
			}
		}
	}
	for k := previous; k < s.lower; k++ {
		if n := s.number[k]; s.at[n] == k {
			s.at[n] = -1
		}
	}
	return best
}
