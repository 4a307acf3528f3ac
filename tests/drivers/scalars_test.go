package drivers

import (
	"net/netip"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/tests/served"
)

// TestPgxSendsTypesInBinary: what pgx sends in binary comes back, through a table and its indexes.
func TestPgxSendsTypesInBinary(t *testing.T) {
	conn := pgxConn(t, served.InMemory(t), pgx.QueryExecModeCacheStatement)
	ctx := t.Context()
	_, err := conn.Exec(ctx, `CREATE TABLE s (b bit(9) PRIMARY KEY, v varbit, i inet UNIQUE, c cidr,
		m macaddr, r int4range UNIQUE, n numrange, d daterange, x int4multirange, q timetz,
		l pg_lsn)`)
	require.NoError(t, err)
	bits := pgtype.Bits{Bytes: []byte{0xa5, 0x80}, Len: 9, Valid: true}
	ip := netip.MustParsePrefix("10.1.2.3/24")
	network := netip.MustParsePrefix("2001:db8::/32")
	span := pgtype.Range[int32]{Lower: 3, Upper: 7, LowerType: pgtype.Inclusive,
		UpperType: pgtype.Exclusive, Valid: true}
	numbers := pgtype.Range[pgtype.Numeric]{LowerType: pgtype.Unbounded,
		UpperType: pgtype.Unbounded, Valid: true}
	empty := pgtype.Range[pgtype.Date]{LowerType: pgtype.Empty, UpperType: pgtype.Empty,
		Valid: true}
	multi := pgtype.Multirange[pgtype.Range[int32]]{span}
	_, err = conn.Exec(ctx, `INSERT INTO s VALUES ($1, $1::bit(9)::varbit, $2, $3,
		'08:00:2b:01:02:03', $4, $5, $6, $7, '10:00+02', '1/2')`, bits, ip, network, span,
		numbers, empty, multi)
	require.NoError(t, err)
	var (
		b, v pgtype.Bits
		i, c netip.Prefix
		r    pgtype.Range[int32]
		n    pgtype.Range[pgtype.Numeric]
		d    pgtype.Range[pgtype.Date]
		x    pgtype.Multirange[pgtype.Range[int32]]
	)
	require.NoError(t, conn.QueryRow(ctx, `SELECT b, v, i, c, r, n, d, x FROM s WHERE b = $1 AND
		i = $2 AND r = $3`, bits, ip, span).Scan(&b, &v, &i, &c, &r, &n, &d, &x))
	require.Equal(t, []any{bits, bits, ip, network, span, numbers, empty, multi},
		[]any{b, v, i, c, r, n, d, x})
}
