package metrics

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// families is the table of all numbers, for the sources.
func (s *Sources) families() []family {
	return slices.Concat(s.ofBuild(), s.ofStatements(), s.ofTransactions(), s.ofStore(),
		s.ofCollections(), s.ofObservers(), s.ofEngine(), s.ofMemory(), s.ofClients())
}

// ofBuild names the program.
func (s *Sources) ofBuild() []family {
	version, revision := built()
	return []family{
		gauge("minidb_build_info", "What the process was built from, always 1; two versions "+
			"at once mean that an upgrade is not through.",
			func(_ context.Context, add add) {
				add(1, version, revision, runtime.Version(), settings.ServerVersion)
			}, "version", "revision", "goversion", "server_version"),
	}
}

// built returns the version of the module and the commit, as far as the binary knows them.
func built() (version, revision string) {
	version = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	modules := append([]*debug.Module{&info.Main}, info.Deps...)
	for _, m := range modules {
		if m.Path == "github.com/minidb/minidb" && m.Version != "" {
			version = m.Version
		}
	}
	if info.Main.Path != "github.com/minidb/minidb" {
		return version, "" // the commit is another program's
	}
	for _, set := range info.Settings {
		if set.Key == "vcs.revision" {
			revision = set.Value
		}
	}
	return version, revision
}

// age adds how old a timestamp is, in seconds. For none it adds nothing.
func age(ts tso.Timestamp, add add) {
	if ts != 0 {
		add(max(time.Since(ts.Time()).Seconds(), 0))
	}
}

// ofStore are the numbers of package txn.
func (s *Sources) ofStore() []family {
	return []family{
		gauge("minidb_running_transactions", "Transactions that have begun and not ended, "+
			"those of background work too; when it grows without end, clients do not end "+
			"theirs.",
			func(_ context.Context, add add) { add(float64(s.Store.Active())) }),
		gauge("minidb_oldest_snapshot_age_seconds", "Age of the oldest snapshot of a running "+
			"transaction, 0 without any; no version later than it is collected, so find its "+
			"session in pg_stat_activity by backend_xmin.",
			func(_ context.Context, add add) {
				oldest, found := s.Store.Oldest()
				if !found {
					add(0)
					return
				}
				age(oldest.StartTS, add)
			}),
		gauge("minidb_safepoint_age_seconds", "Age of the safepoint, below which old versions "+
			"are collected; when it is much above --gc-retention, a snapshot or a hold keeps "+
			"it back, or collections fail.",
			func(_ context.Context, add add) { age(s.Store.Safepoint(), add) }),
		gauge("minidb_holds", "Holds on the past that backups and copies have, with leases; "+
			"one that no running copy explains is left over and ends with its lease.",
			func(ctx context.Context, add add) {
				if held, err := s.Store.HeldPasts(ctx); err == nil {
					add(float64(len(held)))
				}
			}),
		gauge("minidb_oldest_hold_age_seconds", "Age of the oldest timestamp that a hold "+
			"keeps, 0 without any; all versions since then are on disk.",
			func(ctx context.Context, add add) {
				held, err := s.Store.HeldPasts(ctx)
				if err != nil {
					return
				}
				if len(held) == 0 {
					add(0)
					return
				}
				age(slices.MinFunc(held, byOldest).Oldest, add)
			}),
		counter("minidb_oracle_timestamps_total", "Timestamps that were drawn; their rate "+
			"follows that of the transactions.",
			func(_ context.Context, add add) {
				if own, ok := s.Store.Oracle().(interface{ Drawn() int64 }); ok {
					add(float64(own.Drawn()))
				}
			}),
		gauge("minidb_oracle_lead_seconds", "How far the last timestamp is ahead of this "+
			"machine's clock; above a second, the clock was set back, and AS OF SYSTEM TIME "+
			"reads another past than is meant.",
			func(_ context.Context, add add) {
				if own, ok := s.Store.Oracle().(interface{ Last() tso.Timestamp }); ok {
					lead := time.Until(own.Last().Time()).Seconds()
					add(max(lead, 0))
				}
			}),
	}
}

// ofEngine are the numbers that the engine has, under names of its own.
func (s *Sources) ofEngine() []family {
	all := []family{
		counter("minidb_log_syncs_total", "Syncs of the log; commits that share one are the "+
			"better for it, so compare with the commits.",
			func(_ context.Context, add add) {
				if c, ok := s.Engine.(kv.SyncCounter); ok {
					add(float64(c.Syncs()))
				}
			}),
		gauge("minidb_engine_failed", "1 once the log could not be written: nothing is served "+
			"any more, see the server's log, mend the disk and start again.",
			func(_ context.Context, add add) {
				add(flag(kv.FailureOf(s.Engine) != nil))
			}),
	}
	for i, m := range kv.MeasuresOf(s.Engine) {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		kind := gauge
		if m.Counter {
			kind = counter
		}
		all = append(all, kind("minidb_engine_"+m.Name, m.Help, func(_ context.Context, add add) {
			for _, v := range kv.MeasuresOf(s.Engine)[i].Values {
				if m.Label == "" {
					add(v.Number)
				} else {
					add(v.Number, v.Of)
				}
			}
		}, labels...))
	}
	return all
}

func byOldest(a, b txn.HeldPast) int { return cmp.Compare(a.Oldest, b.Oldest) }
