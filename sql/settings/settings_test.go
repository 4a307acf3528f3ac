package settings

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, in, out, show string }{
		{"statement_timeout", "5s", "5000", "5s"}, {"statement_timeout", " 1.5 min", "90000",
			"90s"}, {"statement_timeout", "0", "0", "0"},
		{"statement_timeout", "1001", "1001", "1001ms"}, {"statement_timeout", "2h", "7200000",
			"2h"},
		{"minidb.statement_memory", "1GB", "1048576", "1GB"}, {"minidb.statement_memory", "100MB",
			"102400", "100MB"},
		{"extra_float_digits", "-3", "-3", "-3"}, {"row_security", "fal", "off",
			"off"}, {"row_security", "1", "on", "on"},
		{"default_transaction_read_only", "YES", "on", "on"}, {"bytea_output", "ESCAPE", "escape",
			"escape"},
		{"client_min_messages", "info", "notice", "notice"}, {"synchronous_commit", "true", "on",
			"on"},
		{"client_encoding", "utf-8", "UTF8", "UTF8"}, {"client_encoding", "UNICODE", "UTF8",
			"UTF8"},
		{"application_name", "a\nb", "a?b", "a?b"}, {"DateStyle", "Postgres, European",
			"Postgres, DMY", "Postgres, DMY"},
		{"TimeZone", "utc", "UTC", "UTC"},
	} {
		d := Lookup(c.name)
		require.NotNil(t, d, c.name)
		out, err := d.Canonical(c.in)
		require.NoError(t, err, "%s = %s", c.name, c.in)
		require.Equal(t, c.out, out, "%s = %s", c.name, c.in)
		require.Equal(t, c.show, d.Display(out))
	}
}

func TestCanonicalErrors(t *testing.T) {
	for _, c := range []struct{ name, in, code string }{
		{"statement_timeout", "x", "22023"}, {"statement_timeout", "5 parsecs",
			"22023"}, {"statement_timeout", "-1", "22023"},
		{"statement_timeout", "99999999999", "22023"}, {"row_security", "o",
			"22023"}, {"row_security", "", "22023"},
		{"bytea_output", "base64", "22023"}, {"DateStyle", "ISO, Klingon", "22023"}, {"TimeZone",
			"Mars/Base", "22023"},
		{"client_encoding", "LATIN1", "0A000"}, {"client_encoding", "nope",
			"22023"}, {"standard_conforming_strings", "off", "0A000"},
		{"default_transaction_isolation", "chaos", "22023"}, {"search_path", `a, "b`,
			"22023"}, {"search_path", "a b", "22023"},
	} {
		_, err := Lookup(c.name).Canonical(c.in)
		var e *sqlerr.Error
		require.True(t, errors.As(err, &e), "%s = %s", c.name, c.in)
		require.Equal(t, c.code, e.Code, "%s = %s: %s", c.name, c.in, e.Message)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	for _, d := range All() {
		out, err := d.Canonical(d.Default)
		require.NoError(t, err, d.Name)
		require.Equal(t, d.Default, out, d.Name)
	}
}

func TestValuesFollowTransactions(t *testing.T) {
	v := New(map[string]string{"application_name": "base"})
	require.NoError(t, v.Set("application_name", "a", false))
	v.Commit()
	require.NoError(t, v.Set("application_name", "b", true))
	mark := v.Mark()
	require.NoError(t, v.Set("APPLICATION_NAME", "c", false))
	require.NoError(t, v.Set("x.y", "z", false))
	get := func(name string) string { s, _ := v.Get(name); return s }
	require.Equal(t, "c", get("application_name"))
	v.RollbackTo(mark)
	require.Equal(t, "b", get("application_name"))
	value, known := v.Get("x.y")
	require.True(t, known, "a custom parameter stays known")
	require.Empty(t, value)
	v.Commit()
	require.Equal(t, "a", get("application_name"), "SET LOCAL ends with the transaction")
	require.NoError(t, v.SetDefault("application_name", false))
	require.Equal(t, "base", get("application_name"))
	v.Rollback()
	require.Equal(t, "a", get("application_name"))
	v.ResetAll()
	v.Commit()
	require.Equal(t, "base", get("application_name"))
	require.True(t, v.Pristine())
}

func TestChangedNamesWhatDiffers(t *testing.T) {
	v := New(nil)
	require.Len(t, v.Initial(), 13)
	require.NoError(t, v.Set("application_name", "a", false))
	require.NoError(t, v.Set("application_name", "b", false))
	require.NoError(t, v.Set("TimeZone", "Europe/Paris", false))
	require.NoError(t, v.Set("TimeZone", "UTC", false))
	require.NoError(t, v.Set("statement_timeout", "1", false))
	require.Equal(t, []Report{{"application_name", "b"}}, v.Changed())
	require.Empty(t, v.Changed())
}

// TestEmptyLayersCostNothing: most sessions begin with five of them.
func TestEmptyLayersCostNothing(t *testing.T) {
	v := New(map[string]string{"is_superuser": "on"})
	v.Derived()
	require.Zero(t, testing.AllocsPerRun(10, func() {
		require.NoError(t, v.SetLayer(ByRole, nil))
		v.SetServer("is_superuser", "on")
		require.True(t, v.computed)
	}))
	require.NoError(t, v.SetLayer(ByRole, map[string]string{"application_name": "a"}))
	require.NoError(t, v.SetLayer(ByRole, nil))
	require.Empty(t, v.Derived().ApplicationName)
	v.SetServer("is_superuser", "off")
	s, _ := v.Raw("is_superuser")
	require.Equal(t, "off", s)
}

func TestDerived(t *testing.T) {
	v := New(nil)
	before := v.Derived().PlanKey
	require.NoError(t, v.SetList("search_path", []string{"a", "B c"}, false))
	require.NoError(t, v.Set("statement_timeout", "2s", false))
	require.Equal(t, []string{"a", "B c"}, v.Derived().SearchPath)
	require.Equal(t, 2*time.Second, v.Derived().StatementTimeout)
	require.NotEqual(t, before, v.Derived().PlanKey)
	v.Rollback()
	require.Equal(t, before, v.Derived().PlanKey)
}
