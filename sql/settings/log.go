package settings

import (
	"strconv"
	"time"
)

// Log has the settings about the records that a session leaves in the log of the server.
type Log struct {
	// MinMessages is the least severity that is logged, and MinErrorStatement the least severity
	// of an error whose record has the text of the statement.
	MinMessages, MinErrorStatement Severity
	Statement                      string // none, ddl, mod or all
	// MinDuration is the least duration of a statement that is logged; negative: none is.
	MinDuration time.Duration
	Duration    bool
	LockWaits   bool
	// Parameters and ParametersOnError bound the values of parameters in records, in bytes of each;
	// 0: they are left out, negative: they have no bound of their own.
	Parameters, ParametersOnError int
	Connections, Disconnections   bool
	Explain                       Explain
	// Timed: some record depends on how long a statement took.
	Timed bool
}

// Explain has the settings of auto_explain: which plans are logged, and how they are printed.
type Explain struct {
	MinDuration                    time.Duration // negative: no plan is logged
	Analyze, Verbose, Timing, JSON bool
}

// Counts reports whether plans are logged with what each node did.
func (e *Explain) Counts() bool { return e.Analyze && e.MinDuration >= 0 }

// Severity is a level of messages in the order of log_min_messages: a request for one includes
// those above it. LOG is above ERROR, for operators want it, unlike in client_min_messages.
type Severity uint8

// The severities.
const (
	Debug5 Severity = iota
	Debug4
	Debug3
	Debug2
	Debug1
	Info
	NoticeSeverity
	Warning
	ErrorSeverity
	LogSeverity
	Fatal
	Panic
)

var severities = map[string]Severity{"debug5": Debug5, "debug4": Debug4, "debug3": Debug3,
	"debug2": Debug2, "debug1": Debug1, "info": Info, "notice": NoticeSeverity,
	"warning": Warning, "error": ErrorSeverity, "log": LogSeverity, "fatal": Fatal, "panic": Panic}

// SeverityNamed returns the severity of a name in lower case.
func SeverityNamed(name string) Severity { return severities[name] }

func deriveLog(text func(string) string) Log {
	number := func(name string) int { n, _ := strconv.Atoi(text(name)); return n }
	millis := func(name string) time.Duration {
		return time.Duration(number(name)) * time.Millisecond
	}
	on := func(name string) bool { return text(name) == "on" }
	l := Log{
		MinMessages:       SeverityNamed(text("log_min_messages")),
		MinErrorStatement: SeverityNamed(text("log_min_error_statement")),
		Statement:         text("log_statement"),
		MinDuration:       millis("log_min_duration_statement"),
		Duration:          on("log_duration"),
		LockWaits:         on("log_lock_waits"),
		Parameters:        number("log_parameter_max_length"),
		ParametersOnError: number("log_parameter_max_length_on_error"),
		Connections:       on("log_connections"),
		Disconnections:    on("log_disconnections"),
		Explain: Explain{
			MinDuration: millis("auto_explain.log_min_duration"),
			Analyze:     on("auto_explain.log_analyze"),
			Verbose:     on("auto_explain.log_verbose"),
			Timing:      on("auto_explain.log_timing"),
			JSON:        text("auto_explain.log_format") == "json",
		},
	}
	l.Timed = l.Duration || l.MinDuration >= 0 || l.Explain.MinDuration >= 0
	return l
}
