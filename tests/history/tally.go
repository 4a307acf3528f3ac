package history

import "fmt"

// tally counts what happened in histories, so that one can see that something did.
type tally struct {
	histories, transactions, committed, aborted, unknown, reads, versions int
}

func (t *tally) add(h *History) {
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

func (t tally) String() string {
	return fmt.Sprintf("%d histories, %d transactions (%d committed, %d aborted, %d unknown), %d reads, %d versions",
		t.histories, t.transactions, t.committed, t.aborted, t.unknown, t.reads, t.versions)
}
