package pgcrypto_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/pgcrypto"
)

func free(int) error { return nil }

// TestHashesArePostgreSQLs has what crypt of PostgreSQL 15 returns.
func TestHashesArePostgreSQLs(t *testing.T) {
	for _, want := range []string{
		"$2a$05$CCCCCCCCCCCCCCCCCCCCC.2j1iZTXh4Do3omHryTKLVB8kHcuZMde",
		"$1$abcdefgh$Cs7845d.9NQVBYpWQnjHT.", "abn5Xoyyit9d2", "_J9..abcd6n0CB3kMcMc",
		"$55y.x3hDhH9I",
	} {
		got, err := pgcrypto.Crypt("foox", want, free)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for salt, want := range map[string]string{"ab": "abmF1QH4PEr.E",
		"$1$ab": "$1$ab$rn6aQS/o7141mj179E/zA."} {
		got, err := pgcrypto.Crypt("", salt, free)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestSaltsThatAreRefused(t *testing.T) {
	for _, salt := range []string{"", "x", "$2a$06$", "_12", "$2a$32$CCCCCCCCCCCCCCCCCCCCC."} {
		_, err := pgcrypto.Crypt("a", salt, free)
		require.ErrorIs(t, err, pgcrypto.ErrSalt, salt)
	}
	for algorithm, rounds := range map[string]int{"bf": 3, "xdes": 2, "md5": 2, "des": 1} {
		_, err := pgcrypto.GenSalt(algorithm, rounds)
		require.ErrorIs(t, err, pgcrypto.ErrRounds, algorithm)
	}
	_, err := pgcrypto.GenSalt("sha", 0)
	require.ErrorIs(t, err, pgcrypto.ErrAlgorithm)
}

func TestGeneratedSaltsServe(t *testing.T) {
	for _, algorithm := range []string{"bf", "md5", "xdes", "des"} {
		salt, err := pgcrypto.GenSalt(algorithm, 0)
		require.NoError(t, err)
		hash, err := pgcrypto.Crypt("secret", salt, free)
		require.NoError(t, err)
		again, err := pgcrypto.Crypt("secret", hash, free)
		require.NoError(t, err)
		require.Equal(t, hash, again)
		other, err := pgcrypto.Crypt("Secret", hash, free)
		require.NoError(t, err)
		require.NotEqual(t, hash, other)
	}
}

// TestCostlyHashesEndWithTheirContext: 2^31 rounds would take half a day.
func TestCostlyHashesEndWithTheirContext(t *testing.T) {
	n := 0
	stop := func(int) error {
		if n++; n > 4 {
			return context.Canceled
		}
		return nil
	}
	for _, salt := range []string{"$2a$31$CCCCCCCCCCCCCCCCCCCCC.", "_zzzzabcd", "$1$ab"} {
		n = 0
		_, err := pgcrypto.Crypt("a", salt, stop)
		require.ErrorIs(t, err, context.Canceled, salt)
	}
}
