package builtin

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // by its name
	"crypto/sha1" //nolint:gosec // by its name
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"hash"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/pgcrypto"
	"github.com/minidb/minidb/table/types"
)

// cryptoFunctions are those of the extension pgcrypto.
var cryptoFunctions = append([]def{
	f("digest(text|bytea,text) bytea", digest),
	f("hmac(text,text,text) bytea", keyedDigest),
	f("hmac(bytea,bytea,text) bytea", keyedDigest),
	f("crypt(text,text) text", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := needContext(rt); err != nil {
			return types.Null, err
		}
		out, err := pgcrypto.Crypt(a[0].S, a[1].S, rt.Tick)
		return types.NewString(out), cryptoError(err, "", "")
	}),
	f("gen_salt(text) text", genSalt).volatile(),
	f("gen_salt(text,int4) text", genSalt).volatile(),
	f("gen_random_bytes(int4) bytea", randomBytes).volatile(),
	ownRandomUUID,
	f("encrypt(bytea,bytea,text) bytea", encipher("encrypt", (*pgcrypto.Cipher).Encrypt)),
	f("decrypt(bytea,bytea,text) bytea", encipher("decrypt", (*pgcrypto.Cipher).Decrypt)),
	f("encrypt_iv(bytea,bytea,bytea,text) bytea",
		encipher("encrypt_iv", (*pgcrypto.Cipher).Encrypt)),
	f("decrypt_iv(bytea,bytea,bytea,text) bytea",
		encipher("decrypt_iv", (*pgcrypto.Cipher).Decrypt)),
	f("armor(bytea) text", armor),
	f("armor(bytea,text[],text[]) text", armor),
	f("dearmor(text) bytea", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		out, err := pgcrypto.Dearmor(a[0].S)
		return types.NewString(out), cryptoError(err, "", "")
	}),
	s("pgp_armor_headers(text) record", "key text,value text", armorHeaders),
}, openPGP()...)

// needContext returns an error where nothing could end a function that takes as long as its
// arguments ask: while a plan is made. The call then remains in the plan.
func needContext(rt *expr.Runtime) error {
	if rt.Ctx == nil {
		return sqlerr.New(sqlerr.InternalError, "the function needs a statement to run in")
	}
	return nil
}

// openPGP are the functions of pgcrypto that are not built. They are refused by name.
func openPGP() (out []def) {
	for _, sig := range []string{
		"pgp_key_id(bytea) text",
		"pgp_sym_encrypt(text,text,text?) bytea", "pgp_sym_encrypt_bytea(bytea,text,text?) bytea",
		"pgp_sym_decrypt(bytea,text,text?) text", "pgp_sym_decrypt_bytea(bytea,text,text?) bytea",
		"pgp_pub_encrypt(text,bytea,text?) bytea", "pgp_pub_encrypt_bytea(bytea,bytea,text?) bytea",
		"pgp_pub_decrypt(bytea,bytea,text?) text", "pgp_pub_decrypt_bytea(bytea,bytea,text?) bytea",
		"pgp_pub_decrypt(bytea,bytea,text,text) text",
		"pgp_pub_decrypt_bytea(bytea,bytea,text,text) bytea",
	} {
		name, _, _ := strings.Cut(sig, "(")
		out = append(out, f(sig, func(*expr.Runtime, []types.Datum) (types.Datum, error) {
			return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
				"function %s is not supported", name)
		}).volatile())
	}
	return out
}

// hashes are the algorithms of digest and hmac.
var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224,
	"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

func hashNamed(name string) (func() hash.Hash, error) {
	if h := hashes[strings.ToLower(name)]; h != nil {
		return h, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue,
		"Cannot use \"%s\": No such hash algorithm", name)
}

func digest(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	newHash, err := hashNamed(a[1].S)
	if err != nil {
		return types.Null, err
	}
	return hashText(newHash, rawSum)(rt, a[:1])
}

func keyedDigest(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	newHash, err := hashNamed(a[2].S)
	if err != nil {
		return types.Null, err
	}
	keyed := func() hash.Hash { return hmac.New(newHash, []byte(a[1].S)) }
	return hashText(keyed, rawSum)(rt, a[:1])
}

func genSalt(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	rounds := 0
	if len(a) > 1 {
		rounds = int(a[1].I)
	}
	salt, err := pgcrypto.GenSalt(a[0].S, rounds)
	return types.NewString(salt), cryptoError(err, "gen_salt: ", "")
}

func randomBytes(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	const most = 1024 // PostgreSQL's bound
	if a[0].I < 1 || a[0].I > most {
		return types.Null, sqlerr.New(sqlerr.ExternalRoutineInvocation, "Length not in range")
	}
	b := make([]byte, a[0].I)
	fillRandom(b)
	return types.NewString(string(b)), nil
}

// encipher makes a function of a cipher's: the data, the key, perhaps the initialisation vector,
// and the name of the cipher.
func encipher(name string, op func(c *pgcrypto.Cipher, data, key, iv []byte,
	step func(int) error) ([]byte, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		algorithm := a[len(a)-1].S
		c, err := pgcrypto.ParseCipher(algorithm)
		if err != nil {
			return types.Null, cryptoError(err, "", algorithm)
		}
		if err := askText(rt, 3*len(a[0].S)); err != nil {
			return types.Null, err
		}
		var iv []byte
		if len(a) > 3 {
			iv = []byte(a[2].S)
		}
		out, err := op(c, []byte(a[0].S), []byte(a[1].S), iv, rt.Tick)
		return types.NewString(string(out)), cryptoError(err, name+" error: ", "")
	}
}

// cryptoError is an error of package pgcrypto with PostgreSQL's code. prefix comes before its text;
// algorithm is what cannot be used.
func cryptoError(err error, prefix, algorithm string) error {
	is := func(of ...error) bool {
		for _, e := range of {
			if errors.Is(err, e) {
				return true
			}
		}
		return false
	}
	switch {
	case is(pgcrypto.ErrSalt, pgcrypto.ErrRounds, pgcrypto.ErrAlgorithm):
		return sqlerr.New(sqlerr.InvalidParameterValue, "%s%s", prefix, err)
	case is(pgcrypto.ErrCipher, pgcrypto.ErrOption):
		return sqlerr.New(sqlerr.InvalidParameterValue, "Cannot use \"%s\": %s", algorithm, err)
	case is(pgcrypto.ErrKey, pgcrypto.ErrEncrypt, pgcrypto.ErrDecrypt, pgcrypto.ErrArmor):
		return sqlerr.New(sqlerr.ExternalRoutineInvocation, "%s%s", prefix, err)
	}
	return err
}

// armor is data with a head of keys and values.
func armor(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var headers []pgcrypto.Header
	if len(a) > 1 {
		if n := len(a[1].Arr.Dims); n > 1 || n != len(a[2].Arr.Dims) {
			return types.Null, errSubscripts("wrong number of array subscripts")
		}
		keys, values := a[1].Arr.Elems, a[2].Arr.Elems
		if len(keys) != len(values) {
			return types.Null, sqlerr.New(sqlerr.ArraySubscriptError, "mismatched array dimensions")
		}
		for i := range keys {
			if err := checkHeader(keys[i], values[i]); err != nil {
				return types.Null, err
			}
			headers = append(headers, pgcrypto.Header{Key: keys[i].S, Value: values[i].S})
		}
	}
	if err := askText(rt, 3*len(a[0].S)); err != nil {
		return types.Null, err
	}
	return types.NewString(pgcrypto.Armor(a[0].S, headers)), nil
}

func checkHeader(key, value types.Datum) error {
	switch {
	case key.Null:
		return sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for header key")
	case value.Null:
		return sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for header value")
	case strings.Contains(key.S, ": "):
		return sqlerr.New(sqlerr.InvalidParameterValue, "header key must not contain \": \"")
	case strings.Contains(key.S, "\n"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "header key must not contain newlines")
	case strings.Contains(value.S, "\n"):
		return sqlerr.New(sqlerr.InvalidParameterValue, "header value must not contain newlines")
	}
	return nil
}

func armorHeaders(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	headers, err := pgcrypto.Headers(a[0].S)
	if err != nil {
		return cryptoError(err, "", "")
	}
	for _, h := range headers {
		row := []types.Datum{types.NewString(h.Key), types.NewString(h.Value)}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}
