package compare

import (
	"encoding/json"
	"os"
)

// record is the ratios of a run, by work.
type record struct {
	Ratios map[string]float64 `json:"ratios"`
}

// readRecord reads the ratios of an earlier run; none without a name.
func readRecord(name string) (map[string]float64, error) {
	if name == "" {
		return nil, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r record
	return r.Ratios, json.Unmarshal(b, &r)
}

// writeRecord writes the ratios of a run, if there is a name. Works that were not measured keep
// what is recorded of them.
func writeRecord(name string, results []Result) error {
	if name == "" {
		return nil
	}
	r := record{Ratios: map[string]float64{}}
	if before, err := readRecord(name); err == nil && before != nil {
		r.Ratios = before
	}
	for _, res := range results {
		r.Ratios[res.Name] = float64(int(res.Ratio*100+0.5)) / 100
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
