package history

import "fmt"

// Tally counts what happened in histories, so that one can see that something did.
type Tally struct {
	histories, transactions, committed, aborted, unknown, reads, versions int
}

// Add counts a history.
func (t *Tally) Add(h *History) {
	t.histories++
	for _, r := range h.Records {
		t.transactions++
		t.reads += len(r.Reads)
		switch r.Outcome {
		case Committed:
			t.committed++
		case Aborted:
			t.aborted++
		case Unknown:
			t.unknown++
		}
	}
	for _, list := range h.Truth {
		t.versions += len(list)
	}
}

func (t Tally) String() string {
	return fmt.Sprintf("%d histories, %d transactions (%d committed, %d aborted, %d unknown), %d "+
		"reads, %d versions",
		t.histories, t.transactions, t.committed, t.aborted, t.unknown, t.reads, t.versions)
}
