package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/settings"
)

func (s utility) execBegin(ctx context.Context, st *ast.Begin) (string, error) {
	tag := "BEGIN"
	if st.Start {
		tag = "START TRANSACTION"
	}
	switch s.tx.state {
	case inBlock:
		s.notice("WARNING", sqlerr.ActiveSQLTransaction,
			"there is already a transaction in progress")
	case idle:
		s.start(inBlock)
	default:
		s.tx.state = inBlock
	}
	return tag, s.setModes(ctx, &st.Modes)
}

func (s utility) execSetTransaction(ctx context.Context, st *ast.SetTransaction) (string, error) {
	if st.Session {
		if s.tx.state == idle {
			s.start(inImplicit) // settings belong to a transaction, and are kept when it commits
		}
		if st.Modes.AsOf != nil {
			return "", sqlerr.Unsupported(int(st.Modes.AsOf.Pos), "AS OF SYSTEM TIME for a session")
		}
		if st.Modes.Isolation != "" {
			if err := s.settings.Set("default_transaction_isolation", st.Modes.Isolation,
				false); err != nil {
				return "", err
			}
		}
		if st.Modes.ReadOnly != nil {
			if err := s.settings.Set("default_transaction_read_only",
				settings.OnOff(*st.Modes.ReadOnly), false); err != nil {
				return "", err
			}
		}
		if st.Modes.Deferrable != nil {
			if err := s.settings.Set("default_transaction_deferrable",
				settings.OnOff(*st.Modes.Deferrable), false); err != nil {
				return "", err
			}
		}
		return "SET", nil
	}
	if s.tx.state != inBlock {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction,
			"SET TRANSACTION can only be used in transaction blocks")
		return "SET", nil
	}
	if st.Snapshot != nil {
		return "SET", s.importSnapshot(ctx, *st.Snapshot)
	}
	return "SET", s.setModes(ctx, &st.Modes)
}

func (s utility) execCommit(ctx context.Context, st *ast.Commit) (string, error) {
	modes := s.tx
	switch s.tx.state {
	case inFailed:
		s.abort(ctx)
		s.chain(st.Chain, &modes)
		return "ROLLBACK", nil
	case inBlock:
		if err := s.commit(ctx); err != nil {
			return "", err
		}
		s.chain(st.Chain, &modes)
		return "COMMIT", nil
	}
	if err := s.outsideBlock("COMMIT", st.Chain); err != nil {
		return "", err
	}
	return "COMMIT", s.commit(ctx)
}

// outsideBlock warns that a command that ends a block is outside of one, and refuses AND CHAIN.
func (s utility) outsideBlock(command string, chain bool) error {
	if chain {
		return sqlerr.New(sqlerr.NoActiveSQLTransaction,
			"%s AND CHAIN can only be used in transaction blocks", command)
	}
	s.notice("WARNING", sqlerr.NoActiveSQLTransaction, "there is no transaction in progress")
	return nil
}

func (s utility) execRollback(ctx context.Context, st *ast.Rollback) (string, error) {
	modes := s.tx
	if s.tx.state == inBlock || s.tx.state == inFailed {
		s.abort(ctx)
		s.chain(st.Chain, &modes)
		return "ROLLBACK", nil
	}
	if err := s.outsideBlock("ROLLBACK", st.Chain); err != nil {
		return "", err
	}
	s.abort(ctx)
	return "ROLLBACK", nil
}

// chain begins the next block at once, with the modes of the one that ended.
func (s utility) chain(yes bool, modes *transaction) {
	if yes {
		s.start(inBlock)
		s.tx.readOnly, s.tx.deferrable, s.tx.isolation = modes.readOnly, modes.deferrable,
			modes.isolation
	}
}

func (s utility) execSavepoint(ctx context.Context, st *ast.Savepoint) (string, error) {
	if s.tx.state != inBlock {
		return "", sqlerr.New(sqlerr.NoActiveSQLTransaction,
			"SAVEPOINT can only be used in transaction blocks")
	}
	return "SAVEPOINT", s.addSavepoint(ctx, st.Name)
}

// addSavepoint makes a savepoint at this point of the transaction.
func (s utility) addSavepoint(ctx context.Context, name string) error {
	if len(s.tx.savepoints) >= maxSavepoints {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many savepoints").
			WithHint("A transaction may have %d of them; RELEASE those that are no longer needed.",
				maxSavepoints)
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	s.tx.savepoints = append(s.tx.savepoints, savepoint{name: name, at: s.tx.tx.Savepoint(),
		settings: s.settings.Mark(), locks: s.locks.Mark(), changes: len(s.tx.changes),
		analyzed: len(s.tx.analyzed),
		checks:   s.references.Savepoint(), notices: s.tx.notices.Mark(), readOnly: s.tx.readOnly})
	return nil
}

// maxSavepoints bounds the savepoints of one block.
const maxSavepoints = 1 << 16

// findSavepoint returns the index of the latest savepoint of that name.
func (s utility) findSavepoint(name, command string) (int, error) {
	if s.tx.state == idle || s.tx.state == inImplicit {
		return 0, sqlerr.New(sqlerr.NoActiveSQLTransaction,
			"%s can only be used in transaction blocks", command)
	}
	for i := len(s.tx.savepoints) - 1; i >= 0; i-- {
		if s.tx.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint \"%s\" does not exist", name)
}

func (s utility) execRelease(st *ast.Release) (string, error) {
	i, err := s.findSavepoint(st.Name, "RELEASE SAVEPOINT")
	if err != nil {
		return "", err
	}
	s.tx.readOnly = s.tx.savepoints[i].readOnly // as SET TRANSACTION left it before
	s.tx.savepoints = s.tx.savepoints[:i]
	s.tx.large.release(i)
	return "RELEASE", nil
}

func (s utility) execRollbackTo(st *ast.RollbackTo) (string, error) {
	i, err := s.findSavepoint(st.Name, "ROLLBACK TO SAVEPOINT")
	if err != nil {
		return "", err
	}
	s.undoTo(i)
	s.tx.state = inBlock
	return "ROLLBACK", nil
}

// undoTo returns the transaction to the state that it had at savepoint i, which remains.
func (s utility) undoTo(i int) {
	sp := &s.tx.savepoints[i]
	s.closePortalsSince(i + 1)
	s.tx.tx.RollbackTo(sp.at)
	sp.at = s.tx.tx.Savepoint()
	s.settings.RollbackTo(sp.settings)
	s.releaseLocks(sp.locks)
	s.references.RollbackTo(sp.checks)
	s.tx.notices.RollbackTo(sp.notices)
	s.tx.large.rollbackTo(i)
	s.tx.readOnly = sp.readOnly
	s.tx.changes, s.tx.analyzed = s.tx.changes[:sp.changes], s.tx.analyzed[:sp.analyzed]
	s.tx.savepoints = s.tx.savepoints[:i+1]
}
