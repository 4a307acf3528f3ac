package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// maxTransactionID is the length of the longest identifier of a prepared transaction, as in
// PostgreSQL.
const maxTransactionID = 199

// execTwoPhase is PREPARE TRANSACTION, COMMIT PREPARED and ROLLBACK PREPARED where
// max_prepared_transactions is 0, which is PostgreSQL's default too: no transaction can be
// prepared, so none is there to commit.
func (s utility) execTwoPhase(ctx context.Context, st *ast.TwoPhase) (string, error) {
	if st.Verb == "PREPARE TRANSACTION" {
		return s.prepareTransaction(ctx, st)
	}
	if s.tx.state == inFailed {
		return "", errFailedTransaction()
	}
	if err := s.noBlock(st.Verb); err != nil {
		return "", err
	}
	return "", sqlerr.New(sqlerr.UndefinedObject,
		"prepared transaction with identifier \"%s\" does not exist", st.ID)
}

// prepareTransaction ends the block in any case: by rolling it back.
func (s utility) prepareTransaction(ctx context.Context, st *ast.TwoPhase) (string, error) {
	switch s.tx.state {
	case inBlock:
	case inFailed:
		s.abort(ctx)
		return "ROLLBACK", nil
	default:
		return "ROLLBACK", s.outsideBlock("PREPARE TRANSACTION", false)
	}
	temporary := s.tx.temporary || s.tx.tx != nil && s.tx.tx.CompanionDirty()
	s.abort(ctx)
	switch {
	case temporary:
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot PREPARE a transaction that has operated on temporary objects")
	case len(st.ID) > maxTransactionID:
		return "", sqlerr.New(sqlerr.InvalidParameterValue,
			"transaction identifier \"%s\" is too long", st.ID)
	}
	return "", sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"prepared transactions are disabled").
		WithHint("Set max_prepared_transactions to a nonzero value.")
}
