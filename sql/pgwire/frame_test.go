package pgwire

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/jackc/pgproto3/v2"
	"github.com/stretchr/testify/require"
)

// decode is what a connection does with a checked body.
func decode(typ byte, body []byte) error {
	switch typ {
	case 'Q':
		return new(pgproto3.Query).Decode(body)
	case 'P':
		return new(pgproto3.Parse).Decode(body)
	case 'B':
		return new(pgproto3.Bind).Decode(body)
	case 'D':
		return new(pgproto3.Describe).Decode(body)
	case 'E':
		return new(pgproto3.Execute).Decode(body)
	case 'C':
		return new(pgproto3.Close).Decode(body)
	case 'F':
		readFunctionCall(body)
	}
	return nil
}

// frontendMessages are one of each type whose body has a structure.
var frontendMessages = []pgproto3.FrontendMessage{
	&pgproto3.Query{String: "SELECT 1"}, &pgproto3.Parse{Name: "n", Query: "SELECT $1",
		ParameterOIDs: []uint32{23}},
	&pgproto3.Bind{PreparedStatement: "n", ParameterFormatCodes: []int16{1},
		Parameters: [][]byte{{1, 2}, nil}, ResultFormatCodes: []int16{0}},
	&pgproto3.Describe{ObjectType: 'S'}, &pgproto3.Execute{MaxRows: 3},
	&pgproto3.Close{ObjectType: 'P'}, &pgproto3.Sync{},
	&pgproto3.FunctionCall{Function: 952, ArgFormatCodes: []uint16{1},
		Arguments: [][]byte{{0, 0, 64, 0}, nil}, ResultFormatCode: 1},
}

// TestDamagedBodies have a byte changed, removed or added: each is refused, or decoded.
func TestDamagedBodies(t *testing.T) {
	for _, m := range frontendMessages {
		frame, err := m.Encode(nil)
		require.NoError(t, err)
		typ, body := frame[0], frame[5:]
		bodies := [][]byte{append(bytes.Clone(body), 0), append(bytes.Clone(body), 'x')}
		for i := range body {
			bodies = append(bodies, body[:i], body[i+1:])
			for _, b := range []byte{0, 1, 'C', 'S', 0x7f, 0x80, 0xff} {
				bodies = append(bodies, slices.Concat(body[:i], []byte{b}, body[i+1:]))
			}
		}
		for _, damaged := range bodies {
			if validate(typ, bytes.Clone(damaged)) == nil {
				require.NoError(t, decode(typ, bytes.Clone(damaged)), "%c %q", typ, damaged)
			}
		}
	}
}

// Whatever the bytes: the reader ends, and what validate lets pass pgproto3 decodes.
func FuzzFrames(f *testing.F) {
	for _, m := range frontendMessages {
		b, err := m.Encode(nil)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("Q\x00\x00\x00\x04"))
	f.Add([]byte("C\x00\x00\x00\x06C\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newFrameReader(bytes.NewReader(data), nil)
		for {
			typ, body, err := r.next()
			if err != nil {
				return
			}
			if validate(typ, body) == nil {
				require.NoError(t, decode(typ, body), "type %c", typ)
			}
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add(uint32(196608), []byte("user\x00postgres\x00options\x00-c a=b\x00\x00"))
	f.Fuzz(func(t *testing.T, code uint32, body []byte) {
		if h, err := parseHello(code, body); err == nil {
			require.NotNil(t, h.params)
			_ = splitOptions(h.params["options"], map[string]string{})
		}
	})
}

// A length that is not followed by bytes takes no memory.
func TestALengthAloneCostsNothing(t *testing.T) {
	r := newFrameReader(bytes.NewReader([]byte("B\x07\xff\xff\xffxxxx")), nil)
	_, _, err := r.next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.LessOrEqual(t, cap(r.buf), growStep)
}

func TestPositionsCountCharacters(t *testing.T) {
	require.EqualValues(t, 0, characters("abc", 0))
	require.EqualValues(t, 2, characters("ä b", 3))
	require.EqualValues(t, 0, characters("abc", 99))
	require.EqualValues(t, 4, characters("abc", 4))
}
