package differential

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

// server is a connection to one of the two, and the notices that have come over it.
type server struct {
	*pgconn.PgConn
	notices []string
}

// dial connects to a server.
func dial(t *testing.T, url string) *server {
	config, err := pgconn.ParseConfig(url)
	require.NoError(t, err)
	s := &server{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		s.notices = append(s.notices, fmt.Sprintf("%s %s %s %s", n.Severity, n.Code, n.Message,
			inOrder(n.Detail)))
	}
	s.PgConn, err = pgconn.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// postgresServer makes a database whose letters are those of Unicode, as minidb's are. Texts are
// in the order of their bytes.
func postgresServer(t *testing.T) *server {
	url := pgtest.Server(t)
	err := dial(t, url).Exec(t.Context(), `CREATE DATABASE differential TEMPLATE template0
		LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'`).Close()
	require.NoError(t, err)
	return dial(t, strings.Replace(url, "/postgres?", "/differential?", 1))
}

// reply is what a server answers.
type reply struct {
	code    string // of an error
	error   string // what else it says
	at      int32  // its position
	tag     string
	columns string
	rows    []string // sorted
	notices []string
}

func (s *server) answer(t *testing.T, text string) (r reply) {
	s.notices = nil
	results, err := s.Exec(t.Context(), text).ReadAll()
	r.notices = s.notices
	var e *pgconn.PgError
	if errors.As(err, &e) {
		r.code, r.at = e.Code, e.Position
		detail := enumType.ReplaceAllString(inOrder(e.Detail), "$1(type")
		r.error = strings.TrimSpace(fmt.Sprintln(e.Message, said("\n  DETAIL", detail),
			said("\n  HINT", e.Hint), said("\n  schema",
				temporary.ReplaceAllString(e.SchemaName, "pg_temp")),
			said("table", e.TableName), said("column", e.ColumnName),
			said("type", e.DataTypeName), said("constraint", e.ConstraintName)))
		return r
	}
	require.NoError(t, err, text)
	lengths := !strings.Contains(text, "information_schema") // yes_or_no has none here
	for _, res := range results {
		r.tag = res.CommandTag.String()
		for _, f := range res.FieldDescriptions {
			r.columns += fmt.Sprintf(" %s:%d", f.Name, builtInType(f.DataTypeOID))
			if lengths {
				r.columns += fmt.Sprintf(":%d", f.TypeModifier)
			}
		}
		for _, row := range res.Rows {
			fields := make([]string, len(row))
			for i, v := range row {
				if fields[i] = string(v); v == nil {
					fields[i] = "NULL"
				}
			}
			r.rows = append(r.rows, strings.Join(fields, "|"))
		}
	}
	slices.Sort(r.rows)
	return r
}

// enumType matches the OID of a type in a detail, which is each server's own.
var enumType = regexp.MustCompile(`(\(enumtypid, enumlabel\)=)\(\d+`)

// temporary matches the schema of a session's temporary objects.
var temporary = regexp.MustCompile(`^pg_temp_\d+$`)

// inOrder sorts the lines of a detail: dependents come in the order of their OIDs.
func inOrder(detail string) string {
	lines := strings.Split(detail, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// said is a field of an error, if it is there.
func said(name, value string) string {
	if value == "" {
		return ""
	}
	return name + ": " + value
}

// builtInType leaves out the OIDs of types of users and extensions, which are each server's own.
func builtInType(oid uint32) uint32 {
	if oid >= 14000 {
		return 0
	}
	return oid
}

// lines are what is shown of an answer.
func (r *reply) lines() []string {
	head := r.tag + r.columns
	if r.code != "" {
		head = fmt.Sprintf("%s at %d %s", r.code, r.at, r.error)
	}
	return append(append([]string{head}, r.notices...), r.rows...)
}

// without shows what an answer has and another has not.
func (r *reply) without(other *reply) string {
	rest := slices.DeleteFunc(r.lines(), func(line string) bool {
		return slices.Contains(other.lines(), line)
	})
	text := strings.Join(rest, "\n  ")
	return text[:min(len(text), 2000)]
}
