package sql

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/settings"
	"github.com/minidb/minidb/table/types"
)

// setIsolation changes the level of the present transaction; "" leaves it.
func (s *transactor) setIsolation(level string) error {
	switch {
	case level == "" || level == s.tx.isolation:
		return nil
	case len(s.tx.savepoints) > 0:
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	case s.tx.ran:
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	s.tx.isolation = level
	return s.beginAgain()
}

// beginAgain drops a snapshot that was taken before the transaction's modes were known: only the
// schema has been read in it.
func (s *transactor) beginAgain() error {
	if s.tx.tx == nil || s.tx.ran || len(s.tx.savepoints) > 0 {
		return nil
	}
	tx := s.tx.tx
	s.tx.tx, s.tx.view = nil, nil
	return tx.Rollback(context.Background())
}

// setting is the value of a parameter, those of the present transaction included.
func (s *transactor) setting(name string) (string, bool) {
	switch strings.ToLower(name) {
	case "transaction_read_only":
		if s.tx.state != idle {
			return settings.OnOff(s.tx.readOnly), true
		}
		return settings.OnOff(s.settings.Derived().ReadOnly), true
	case "transaction_deferrable":
		return settings.OnOff(s.tx.deferrable), true
	case "transaction_isolation":
		if s.tx.state != idle {
			return s.tx.isolation, true
		}
		return s.settings.Derived().Isolation, true
	}
	return s.settings.Get(name)
}

// setTransactionSetting handles the parameters that are modes of the present transaction.
func (s *planRunner) setTransactionSetting(name, value string) (done bool, err error) {
	var modes ast.TxnModes
	switch strings.ToLower(name) {
	case "transaction_read_only":
		if modes.ReadOnly, err = boolMode(name, value); err != nil {
			return true, err
		}
	case "transaction_deferrable":
		if modes.Deferrable, err = boolMode(name, value); err != nil {
			return true, err
		}
	case "transaction_isolation":
		level := settings.Lookup(name)
		if value, err = level.Canonical(value); err != nil {
			return true, err
		}
		modes.Isolation = value
	default:
		return false, nil
	}
	if s.tx.state != inBlock && s.tx.state != inImplicit {
		return true, nil
	}
	return true, s.setModes(context.Background(), &modes) // none of these modes waits
}

func boolMode(name, value string) (*bool, error) {
	on, ok := types.ParseBool(value)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue,
			"parameter \"%s\" requires a Boolean value", strings.ToLower(name))
	}
	return &on, nil
}

// setModes applies the modes of BEGIN and SET TRANSACTION to the present transaction.
func (s *planRunner) setModes(ctx context.Context, m *ast.TxnModes) error {
	if err := s.setIsolation(m.Isolation); err != nil {
		return err
	}
	if m.ReadOnly != nil {
		if err := s.setReadOnly(*m.ReadOnly); err != nil {
			return err
		}
	}
	if m.AsOf != nil {
		if m.ReadOnly != nil && !*m.ReadOnly {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"AS OF SYSTEM TIME needs a read-only transaction").At(int(m.AsOf.Pos))
		}
		if err := s.readPast(ctx, m.AsOf, arguments{}); err != nil {
			return err
		}
	}
	if m.Deferrable != nil {
		return s.setDeferrable(*m.Deferrable)
	}
	return nil
}

func (s *transactor) setReadOnly(on bool) error {
	if s.tx.readOnly == on {
		return nil
	}
	if !on && len(s.tx.savepoints) > 0 {
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"cannot set transaction read-write mode inside a read-only transaction")
	}
	// The transaction of the store was begun as a reader, or will be.
	if !on && (s.tx.ran || s.tx.tx != nil || s.tx.asOf != 0) {
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"transaction read-write mode must be set before any query")
	}
	s.tx.readOnly = on
	return s.beginAgain()
}

func (s *transactor) setDeferrable(on bool) error {
	if s.tx.ran {
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"SET TRANSACTION [NOT] DEFERRABLE must be called before any query")
	}
	if s.tx.deferrable == on {
		return nil
	}
	s.tx.deferrable = on
	return s.beginAgain()
}
