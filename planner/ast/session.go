package ast

import "strings"

// TxnModes are the modes of BEGIN and SET TRANSACTION; empty and nil mean not specified.
type TxnModes struct {
	Isolation  string // "serializable", "repeatable read", "read committed", "read uncommitted"
	ReadOnly   *bool
	Deferrable *bool
	AsOf       *AsOf // nil: not specified
}

// AsOf is AS OF SYSTEM TIME x, or AS OF TIMESTAMP x: the moment at which a transaction reads.
// Moment has no columns: a literal (a time, or an interval back from now) or an expression.
type AsOf struct {
	Pos    Pos
	Moment Expr
	Text   string // source text of Moment
	Params bool   // Moment has parameters
}

// Begin is BEGIN or START TRANSACTION.
type Begin struct {
	Pos   Pos
	Modes TxnModes
	Start bool // START TRANSACTION: its command tag differs
}

// Commit is COMMIT or END [AND CHAIN].
type Commit struct {
	Pos   Pos
	Chain bool
}

// Rollback is ROLLBACK or ABORT [AND CHAIN].
type Rollback struct {
	Pos   Pos
	Chain bool
}

// TwoPhase is PREPARE TRANSACTION 'id', COMMIT PREPARED 'id' or ROLLBACK PREPARED 'id', which Verb
// names as written here.
type TwoPhase struct {
	Pos  Pos
	Verb string
	ID   string
}

// Savepoint is SAVEPOINT name. Release and RollbackTo end it.
type Savepoint struct {
	Pos  Pos
	Name string
}

// Release is RELEASE [SAVEPOINT] name.
type Release struct {
	Pos  Pos
	Name string
}

// RollbackTo is ROLLBACK TO [SAVEPOINT] name.
type RollbackTo struct {
	Pos  Pos
	Name string
}

// SetTransaction is SET TRANSACTION, its form with SNAPSHOT, or with Session SET SESSION
// CHARACTERISTICS AS TRANSACTION.
type SetTransaction struct {
	Pos     Pos
	Session bool
	Modes   TxnModes
	// Snapshot is the identifier of SET TRANSACTION SNAPSHOT; nil: another statement.
	Snapshot *string
}

// SetConstraints is SET CONSTRAINTS; no Names means ALL.
type SetConstraints struct {
	Pos      Pos
	Names    []Name
	Deferred bool
}

// Set is SET [LOCAL|SESSION] name = values; SET TIME ZONE is name "timezone", SET NAMES
// "client_encoding". Default is SET x TO DEFAULT; RESET x is the same.
type Set struct {
	Pos     Pos
	Local   bool
	Name    string
	Values  []string
	Default bool
	Reset   bool // written RESET: the same as SET … TO DEFAULT
}

// AlterSettings is ALTER DATABASE name SET or RESET, and ALTER SYSTEM SET or RESET.
type AlterSettings struct {
	Pos      Pos
	System   bool
	Database string // without System
	Set      *Set   // nil: RESET ALL
	Current  bool   // SET name FROM CURRENT
	Rename   string // the new name of the database; "" for none
}

// ResetAll is RESET ALL.
type ResetAll struct{ Pos Pos }

// Show is SHOW name; Name "all" shows all.
type Show struct {
	Pos  Pos
	Name string
}

// Discard is DISCARD ALL|PLANS|SEQUENCES|TEMP.
type Discard struct {
	Pos  Pos
	What string
}

// Prepare is PREPARE name [(types)] AS statement; Text is the statement's source.
type Prepare struct {
	Pos       Pos
	Name      string
	Types     []TypeName
	Statement Statement
	Text      string
}

// Execute is EXECUTE name [(args)].
type Execute struct {
	Pos  Pos
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE [PREPARE] name | ALL.
type Deallocate struct {
	Pos  Pos
	Name string
	All  bool
}

// DeclareCursor is DECLARE name [BINARY] [INSENSITIVE] [[NO] SCROLL] CURSOR [WITH HOLD] FOR query.
type DeclareCursor struct {
	Pos    Pos
	Name   string
	Binary bool
	Scroll *bool
	Hold   bool
	Query  *Select
	Text   string // source text of the query
}

// FetchDirection is where FETCH goes, by its key word.
type FetchDirection string

// The directions of FETCH and MOVE.
const (
	FetchNext     FetchDirection = "next"
	FetchPrior    FetchDirection = "prior"
	FetchFirst    FetchDirection = "first"
	FetchLast     FetchDirection = "last"
	FetchAbsolute FetchDirection = "absolute"
	FetchRelative FetchDirection = "relative"
	FetchForward  FetchDirection = "forward"
	FetchBackward FetchDirection = "backward"
)

// Fetch is FETCH or MOVE; All stands for FORWARD ALL and BACKWARD ALL.
type Fetch struct {
	Pos       Pos
	Move      bool
	Direction FetchDirection
	Count     int64
	All       bool
	Cursor    string
}

// CloseCursor is CLOSE name | ALL.
type CloseCursor struct {
	Pos  Pos
	Name string
	All  bool
}

// Explain is EXPLAIN [(options)] statement.
type Explain struct {
	Pos       Pos
	Analyze   bool
	Verbose   bool
	Options   []Option // all options as written, analyze and verbose included
	Statement Statement
}

// MaintenanceCommand is the key word of a Maintenance.
type MaintenanceCommand string

// The commands of Maintenance.
const (
	Vacuum     MaintenanceCommand = "vacuum"
	Analyze    MaintenanceCommand = "analyze"
	Checkpoint MaintenanceCommand = "checkpoint"
	Reindex    MaintenanceCommand = "reindex"
	Cluster    MaintenanceCommand = "cluster"
)

// Maintenance is VACUUM, ANALYZE, CHECKPOINT, REINDEX or CLUSTER.
type Maintenance struct {
	Pos     Pos
	Command MaintenanceCommand
	Options []Option
	Tables  []MaintainedTable
	Kind    string // REINDEX: "table", "index", "database", …
}

// MaintainedTable is a table of a Maintenance, and the columns that ANALYZE samples; none: all.
type MaintainedTable struct {
	Name    Name
	Columns []Ident
}

// TableLockMode is a mode of LOCK TABLE, by its words.
type TableLockMode string

// The modes, the weakest first.
const (
	AccessShare          TableLockMode = "access share"
	RowShare             TableLockMode = "row share"
	RowExclusive         TableLockMode = "row exclusive"
	ShareUpdateExclusive TableLockMode = "share update exclusive"
	Share                TableLockMode = "share"
	ShareRowExclusive    TableLockMode = "share row exclusive"
	Exclusive            TableLockMode = "exclusive"
	AccessExclusive      TableLockMode = "access exclusive"
)

// LockTable is LOCK [TABLE] ….
type LockTable struct {
	Pos    Pos
	Tables []Name
	Mode   TableLockMode
	NoWait bool
}

// Notify, Listen and Unlisten.
type Notify struct {
	Pos     Pos
	Channel string
	Payload string
}

// Listen is LISTEN channel.
type Listen struct {
	Pos     Pos
	Channel string
}

// Unlisten is UNLISTEN channel | *.
type Unlisten struct {
	Pos     Pos
	Channel string
	All     bool
}

// Unsupported is a statement that is recognised and that minidb does not implement: executing it
// fails with 0A000, Construct and Pos. The parser may also return this error itself. It uses this
// node only where it must first parse the rest of the statement, which may have a syntax error.
type Unsupported struct {
	Pos       Pos
	Construct string
}

func (*Begin) statement()          {}
func (*Commit) statement()         {}
func (*TwoPhase) statement()       {}
func (*Rollback) statement()       {}
func (*Savepoint) statement()      {}
func (*Release) statement()        {}
func (*RollbackTo) statement()     {}
func (*SetTransaction) statement() {}
func (*SetConstraints) statement() {}
func (*Set) statement()            {}
func (*ResetAll) statement()       {}
func (*AlterSettings) statement()  {}
func (*Show) statement()           {}
func (*Discard) statement()        {}
func (*Prepare) statement()        {}
func (*Execute) statement()        {}
func (*Deallocate) statement()     {}
func (*DeclareCursor) statement()  {}
func (*Fetch) statement()          {}
func (*CloseCursor) statement()    {}
func (*Explain) statement()        {}
func (*Maintenance) statement()    {}
func (*LockTable) statement()      {}
func (*Notify) statement()         {}
func (*Listen) statement()         {}
func (*Unlisten) statement()       {}
func (*Unsupported) statement()    {}

// Do is DO: a body in a procedural language that runs once.
type Do struct {
	Pos      Pos
	Language string // "": plpgsql
	Body     string
	// BodyPos is the position of the body's first character; 0 if the body is not written as it is
	// in the text. With BodyQuoted its quotes are doubled there.
	BodyPos    Pos
	BodyQuoted bool
}

// At returns the position in the statement's text of a position in the body; 0: unknown.
func (d *Do) At(position int) int {
	if d.BodyPos == 0 || position < 1 || position > len(d.Body)+1 {
		return 0
	}
	at := int(d.BodyPos) + position - 1
	if d.BodyQuoted {
		at += strings.Count(d.Body[:position-1], "'")
	}
	return at
}

func (*Do) statement() {}
