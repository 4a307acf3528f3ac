package types

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRegistryLikePostgres(t *testing.T) {
	script(t, "pg_type.txt", func(_ *Format, fields []string) (string, string) {
		oid, err := strconv.Atoi(fields[0])
		require.NoError(t, err)
		typ, ok := ByOID(OID(oid))
		require.True(t, ok, fields)
		same, ok := ByName(typ.Name)
		require.True(t, ok)
		require.Same(t, typ, same)
		preferred := "False"
		if typ.Preferred() {
			preferred = "True"
		}
		got := []string{
			fields[0], typ.Name, strconv.Itoa(int(typ.Len)), strconv.Itoa(int(typ.ArrayOID())),
			string(typ.Category()), preferred, string(typ.Align()), FormatType(typ.OID, NoMod),
		}
		return strings.Join(got, "\t"), strings.Join(fields, "\t")
	})
}

func TestCastsLikePostgres(t *testing.T) {
	script(t, "casts.txt", func(_ *Format, fields []string) (string, string) {
		from, to := typeNamed(t, fields[0]), typeNamed(t, fields[1])
		if CastContext(from.OID, to.OID) == 0 {
			return "no", fields[2]
		}
		return "yes", fields[2]
	})
}

func TestCastContexts(t *testing.T) {
	for _, c := range []struct {
		from, to OID
		want     byte
	}{
		{OIDInt4, OIDInt8, 'i'}, {OIDInt8, OIDInt4, 'a'}, {OIDInt4, OIDBool, 'e'}, {OIDUUID,
			OIDText, 'a'},
		{OIDText, OIDUUID, 'e'}, {OIDUnknown, OIDDate, 'i'}, {OIDBool, OIDFloat8, 0}, {OIDVarchar,
			OIDText, 'i'},
		{OIDNumeric, OIDFloat8, 'i'}, {OIDFloat8, OIDNumeric, 'a'}, {OIDDate, OIDTimestampTZ, 'i'},
		{ArrayOf(TInt4).OID, ArrayOf(TInt8).OID, 'i'}, {ArrayOf(TInt4).OID, OIDText,
			'a'}, {OIDJSONB, OIDInt4, 'e'},
	} {
		require.Equal(t, string(c.want), string(CastContext(c.from, c.to)), "%d → %d", c.from, c.to)
	}
}

func TestTypeModifiers(t *testing.T) {
	show := func(base *Type, mods ...int) string {
		typ, err := TypeWithMods(base, mods)
		if err != nil {
			return outcome("", err)
		}
		return typ.String()
	}
	require.Equal(t, "numeric(10,2)", show(TNumeric, 10, 2))
	require.Equal(t, "numeric(10,0)", show(TNumeric, 10))
	require.Equal(t, "numeric(3,-2)", show(TNumeric, 3, -2))
	require.Equal(t, "err:22023:NUMERIC precision 0 must be between 1 and 1000", show(TNumeric, 0))
	require.Equal(t, "err:22023:NUMERIC scale 1001 must be between -1000 and 1000",
		show(TNumeric, 10, 1001))
	require.Equal(t, "character varying(10)", show(TVarchar, 10))
	require.Equal(t, "err:22023:length for type varchar must be at least 1", show(TVarchar, 0))
	require.Equal(t, "err:22023:length for type char cannot exceed 10485760",
		show(TBPChar, 10485761))
	require.Equal(t, "character(10)[]", show(ArrayOf(TBPChar), 10))
	require.Equal(t, "timestamp(3) with time zone", show(TTimestampTZ, 3))
	require.Equal(t, "time(6) without time zone", show(TTime, 9))
	require.Equal(t, "interval(3)", show(TInterval, 3))
	require.Equal(t, "interval day to second(2)",
		show(TInterval, IntervalDay|IntervalHour|IntervalMinute|IntervalSecond, 2))
	require.Equal(t, "err:42601:type modifier is not allowed for type \"int4\"", show(TInt4, 4))
	require.Equal(t, "\"char\"", show(TChar))
	require.Equal(t, "bpchar", show(TBPChar))
	ym, err := TypeWithMods(TInterval, []int{IntervalYear | IntervalMonth, -1})
	require.NoError(t, err)
	require.Equal(t, int32(458751), ym.Mod)
	require.Equal(t, "interval year to month", ym.String())
}

func TestZoneSettings(t *testing.T) {
	show := func(v string) string {
		_, s, err := ParseZoneSetting(v)
		return outcome(s, err)
	}
	require.Equal(t, "ok:UTC", show("utc"))
	require.Equal(t, "ok:Europe/Berlin", show("europe/BERLIN"))
	require.Equal(t, "ok:<+02>-02", show("2"))
	require.Equal(t, "ok:<-07>+07", show("-7"))
	require.Equal(t, "ok:<+05:30>-05:30", show("5.5"))
	require.Equal(t, "ok:EST5EDT", show("est5edt"))
	require.Equal(t, "err:22023:invalid value for parameter \"TimeZone\": \"nowhere\"",
		show("nowhere"))
	require.Len(t, ZoneNames(), 597)
}
