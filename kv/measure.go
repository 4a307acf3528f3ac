package kv

// Measured is an engine that counts what its files, caches and background work do.
type Measured interface {
	// Measures returns what the engine counts, always the same in the same order. They have no
	// values once the engine is closed or has failed.
	Measures() []Measure
}

// Measure is a number that an engine knows of itself, or several of one kind, for those that
// operate it. Its words are the engine's own.
type Measure struct {
	// Name is in Prometheus' form, without a prefix: block_cache_hits_total.
	Name string
	// Help is a sentence on what it means when the number is high.
	Help string
	// Counter: the number only grows while the engine is open.
	Counter bool
	// Label names what the values differ in; "": there is one value.
	Label  string
	Values []Value
}

// Value is a number of a Measure. Of is the value of the Measure's label.
type Value struct {
	Of     string
	Number float64
}

// MeasuresOf returns what e measures; nil for an engine that is not Measured.
func MeasuresOf(e Engine) []Measure {
	if m, ok := e.(Measured); ok {
		return m.Measures()
	}
	return nil
}
