package sample

type stack[T any] struct{ all []T }

func (s *stack[T]) push(v ...T) {
	s.all = append(s.all, v...)
}

func (stack[T]) name(_ int, _ string) (n int) {
	return 1
}

func first[T any](all []T) T { // of one or more
	return all[0]
}
