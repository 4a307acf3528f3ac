-- Types that users make, and relations that have columns of them.
CREATE SCHEMA kinds;
SET search_path = kinds, public;

CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy');
ALTER TYPE mood ADD VALUE 'glad' BEFORE 'happy';
COMMENT ON TYPE mood IS 'how one feels';
CREATE TYPE nothing AS ENUM ();

CREATE DOMAIN plain AS text;
CREATE DOMAIN positive AS integer DEFAULT 1 NOT NULL CONSTRAINT above_zero CHECK (VALUE > 0)
  CHECK (VALUE < 1000000);
CREATE DOMAIN small AS positive CHECK (VALUE <= 100);
CREATE DOMAIN email AS varchar(80) COLLATE "C" CHECK (VALUE ~ '^[^@]+@[^@]+$'::text);
CREATE DOMAIN price AS numeric(10,2) DEFAULT 9.99 CHECK (VALUE >= 0::numeric);
CREATE DOMAIN numbers AS integer[] CHECK (VALUE[1] > 0 AND array_length(VALUE, 1) < 9);
CREATE DOMAIN matrix AS text[] DEFAULT '{{a,b},{c,d}}';
CREATE DOMAIN cheerful AS mood DEFAULT 'happy' CHECK (VALUE <> 'sad'::mood);
CREATE TYPE address AS (street text, zip varchar(10), since date, feeling mood);
CREATE TYPE parcel AS (destination address, weights numeric(6,2)[], "Note" text COLLATE "C");
CREATE DOMAIN local AS address CHECK ((VALUE).zip IS NOT NULL);
ALTER DOMAIN positive ADD CONSTRAINT unproven CHECK (VALUE <> 13) NOT VALID;
CREATE SEQUENCE tickets;
CREATE DOMAIN ticket AS bigint DEFAULT nextval('tickets');
COMMENT ON DOMAIN email IS 'of a person';
COMMENT ON CONSTRAINT above_zero ON DOMAIN positive IS 'none or fewer make no sense';
COMMENT ON TYPE address IS 'where';
COMMENT ON COLUMN address.zip IS 'post code';

CREATE TABLE holds (
  id ticket PRIMARY KEY,
  m mood DEFAULT 'it''s ok', ms mood[] DEFAULT '{sad,"it''s ok"}',
  c cheerful, s small, ss small[], e email, p price, n numbers, x matrix,
  a address DEFAULT ROW('Main St', '123', '2024-02-29', 'glad'), aa address[], pp parcel, l local,
  CHECK ((a).zip <> ''), CHECK (m > 'sad'));
INSERT INTO holds (m, ms, c, s, ss, e, p, n, x, aa, pp, l) VALUES
  ('glad', '{happy,NULL}', 'glad', 7, '{1,2}', 'a@b', 1.5, '{3,4}', DEFAULT,
   ARRAY[ROW('a b', NULL, NULL, 'sad')::address, NULL], ROW(ROW('"q"', 'z', NULL, NULL), '{1.5,2}', '\'),
   ROW(NULL, '1', NULL, NULL)),
  (NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ROW('', '2', NULL, NULL));
CREATE INDEX ON holds (m, c);
CREATE INDEX holds_zip ON holds (((a).zip)) WHERE m = 'glad';
CREATE VIEW shown AS SELECT m, c::text, (a).street, (pp).destination.zip, 'sad'::mood AS low,
  h.a AS whole FROM holds h WHERE c::mood = 'glad'::mood AND m = ANY (ARRAY['sad', 'glad']::mood[]);

CREATE TABLE scalars (
  i2 smallint DEFAULT -1, i8 bigint DEFAULT 9223372036854775807, r real DEFAULT 1.5,
  n numeric, n5 numeric(5), c char(3) DEFAULT 'ab', c1 "char" DEFAULT 'x', nm name, b bytea DEFAULT '\x00ff',
  t1 time(2) DEFAULT '12:34:56.78', t2 timetz DEFAULT '12:34:56+02', ts timestamptz(0),
  iv interval year to month DEFAULT '1 year 2 mons', iv3 interval(3),
  b3 bit(3) DEFAULT B'101', bv varbit(5), bvn bit varying, mo money DEFAULT 12.5,
  ip inet DEFAULT '10.0.0.1', nw cidr DEFAULT '10.0.0.0/8', mac macaddr, mac8 macaddr8,
  j json DEFAULT '{"a" : 1}', jb jsonb DEFAULT '{"a": 1}', jp jsonpath DEFAULT '$.a[*]',
  i4r int4range DEFAULT '[1,5)', nr numrange, tr tsrange, tzr tstzrange, dr daterange, i8r int8range,
  i4m int4multirange DEFAULT '{[1,2),[5,6)}', nm_ nummultirange, dm datemultirange, tm tsmultirange,
  rc regclass DEFAULT 'kinds.holds', rt regtype DEFAULT 'mood', rp regproc, ro regrole, rn regnamespace,
  o oid, xi xid, ti tid, ls pg_lsn, tx text[][] DEFAULT '{}', bo boolean DEFAULT true,
  d date DEFAULT CURRENT_DATE, u text DEFAULT CURRENT_USER, tz timestamptz DEFAULT CURRENT_TIMESTAMP(3),
  fl float8 DEFAULT 'Infinity', nu numeric DEFAULT 'NaN', gu uuid DEFAULT gen_random_uuid());
INSERT INTO scalars (bv, bvn, ts, iv3, mac, mac8, nr, tr, dr, dm, rp, rn, o, n, nm, d, u, tz, gu)
  VALUES ('101', '1111', '2024-01-01 00:00:00+00', '1.2345 sec', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05',
  '(1.5,]', '[2024-01-01,2024-01-02]', '(,2024-01-01)', '{[2024-01-01,2024-01-05)}', 'now', 'kinds', 42, 1e40, 'nm',
  '2024-05-06', 'me', '2024-01-01 00:00:00+00', '6ba7b810-9dad-11d1-80b4-00c04fd430c8');
