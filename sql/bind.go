package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

func (s *Session) findCursor(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil && name != "" {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "cursor \"%s\" does not exist", name)
}

// Bind makes a portal. An unnamed one replaces the unnamed one before it.
func (s *Session) Bind(ctx context.Context, name string, ps *Prepared,
	params []types.Datum) (*Portal, error) {
	p, err := s.bind(ctx, ps, name, params)
	if err != nil {
		s.fail(ctx)
	}
	return p, err
}

func (s *Session) bind(ctx context.Context, ps *Prepared, name string,
	params []types.Datum) (*Portal, error) {
	if s.tx.state == inFailed && ps.Stmt != nil && (!kindOf(ps.Stmt).endsBlock || len(params) > 0) {
		return nil, errFailedTransaction()
	}
	if len(params) != len(ps.ParamTypes) {
		return nil, sqlerr.New(sqlerr.ProtocolViolation,
			"bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(params), ps.Name, len(ps.ParamTypes))
	}
	if name == "" {
		s.ClosePortal("")
	} else if _, taken := s.portals[name]; taken {
		return nil, sqlerr.New(sqlerr.DuplicateCursor, "portal \"%s\" already exists", name)
	}
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	p := s.newPortal()
	p.Name, p.Statement, p.params, p.columns, p.account = name, ps, params, ps.Columns, s.memory
	if err := s.addPortal(p); err != nil {
		return p, err
	}
	n := types.RowSize(params)
	if n <= smallText {
		return p, nil
	}
	p.bytes = n
	err := s.memory.Grow(n)
	if err != nil {
		s.ClosePortal(name)
		s.memory.Settle()
		err = toSQL(ctx, err)
	}
	return p, err
}

func (s *Session) addPortal(p *Portal) error {
	if len(s.portals) >= maxPortals {
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "too many portals").
			WithHint("A session may hold %d of them; CLOSE those that are no longer needed.",
				maxPortals)
	}
	p.depth = len(s.tx.savepoints)
	s.portals[p.Name] = p
	return nil
}

// Portal finds a portal.
func (s *Session) Portal(name string) (*Portal, error) {
	if p := s.portals[name]; p != nil {
		return p, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal \"%s\" does not exist", name)
}

// ClosePortal forgets a portal; there need not be one.
func (s *portalSet) ClosePortal(name string) {
	if p := s.portals[name]; p != nil {
		p.close()
		delete(s.portals, name)
	}
}
