package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/pages"
)

// A file of cells is one zstd stream, within an age file where it is encrypted, of
//
//	uvarint length of the key, key, uvarint length of the value, value
//
// with the data of a version before its record.

// ErrDamaged is returned for a file that is not what was written.
var ErrDamaged = errors.New("the backup is damaged")

// cellMost bounds a key, and a value, of a file that is read.
const cellMost = 1 << 30

// cellWriter writes the cells of a file.
type cellWriter struct {
	z    *zstd.Encoder
	buf  []byte
	file File
}

// counter passes on what is written, and takes its length and digest.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (w *cellWriter) add(p *pages.Page) error {
	for _, c := range p.Cells {
		w.buf = binary.AppendUvarint(w.buf[:0], uint64(len(c.Key)))
		w.buf = append(w.buf, c.Key...)
		w.buf = binary.AppendUvarint(w.buf, uint64(len(c.Value)))
		w.buf = append(w.buf, c.Value...)
		if _, err := w.z.Write(w.buf); err != nil {
			return err
		}
	}
	w.file.Cells += int64(len(p.Cells))
	w.file.Bytes += int64(p.Bytes)
	return nil
}

// putFile writes a file of what fill adds.
func (b *backing) putFile(ctx context.Context, name string, fill func(*cellWriter) error) (f File,
	err error) {
	err = b.o.To.Put(ctx, b.m.Name+"/"+name, func(out io.Writer) error {
		digest := sha256.New()
		counted := counter{w: io.MultiWriter(out, digest)}
		hidden, err := encrypting(&counted, b.o.Recipients)
		if err != nil {
			return err
		}
		w := &cellWriter{file: File{Name: name, Phase: b.p.Phase,
			Encrypted: len(b.o.Recipients) > 0}}
		if w.z, err = zstd.NewWriter(hidden, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
		if err := errors.Join(fill(w), w.z.Close(), hidden.Close()); err != nil {
			return err
		}
		f = w.file
		f.Size, f.Digest = counted.n, digest.Sum(nil)
		return nil
	})
	return f, err
}

// readFile calls visit with the cells of a file, until it fails, and compares the file with what
// the manifest says of it. The slices are valid during the call.
func readFile(ctx context.Context, p Place, by []Key, dir string, f File,
	visit func(key, value []byte) error) (err error) {
	damaged := func(what string, args ...any) error {
		return fmt.Errorf("%w: %s/%s %s", ErrDamaged, dir, f.Name, fmt.Sprintf(what, args...))
	}
	in, err := p.Get(ctx, dir+"/"+f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("is missing")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	digest := sha256.New()
	tee := io.TeeReader(in, digest)
	plain, err := decrypting(tee, f, by)
	switch {
	case errors.Is(err, ErrNoKey):
		return err
	case err != nil:
		return damaged("cannot be decrypted: %v", err)
	}
	z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(1<<30))
	if err != nil {
		return err
	}
	defer z.Close()
	r := &cellReader{r: bufio.NewReaderSize(z, 1<<16)}
	cells, bytes := int64(0), int64(0)
	for {
		key, value, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged("cannot be read: %v", err)
		}
		if cells++; cells%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		bytes += int64(len(key) + len(value))
		if err := visit(key, value); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return err
	}
	switch {
	case string(digest.Sum(nil)) != string(f.Digest):
		return damaged("has another SHA-256 than the manifest says")
	case cells != f.Cells || bytes != f.Bytes:
		return damaged("has %d cells of %d bytes, and the manifest says %d of %d", cells, bytes,
			f.Cells, f.Bytes)
	}
	return nil
}

type cellReader struct {
	r          *bufio.Reader
	key, value []byte
}

// next returns the next cell, or io.EOF between two of them.
func (c *cellReader) next() (key, value []byte, err error) {
	if _, err := c.r.Peek(1); err != nil {
		return nil, nil, err
	}
	if c.key, err = c.part(c.key); err == nil {
		c.value, err = c.part(c.value)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return c.key, c.value, err
}

// part reads a length and what is behind it. It grows with what is really there.
func (c *cellReader) part(buf []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(c.r)
	switch {
	case err != nil:
		return buf, err
	case n > cellMost:
		return buf, fmt.Errorf("a part of %d bytes: %w", n, kv.ErrCorruption)
	}
	buf = buf[:0]
	for left := int(n); left > 0; {
		step := min(left, 1<<20)
		at := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(c.r, buf[at:]); err != nil {
			return buf, err
		}
		left -= step
	}
	return buf, nil
}
