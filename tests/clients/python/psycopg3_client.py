import datetime
import decimal
import ipaddress
import uuid

import psycopg
from case import case
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.json import Jsonb
from psycopg.types.range import Range
import enum

conn = psycopg.connect("")

VALUES = [1, 2**40, 10**30, decimal.Decimal("12.50"), 1.5, True, "x'y", b"\x00\xff",
          datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 0, 1, 500),
          datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc),
          datetime.timedelta(days=1, seconds=2), datetime.time(1, 2, 3), None, [1, 2, 3],
          ["a", None, 'q"'], uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), Jsonb({"a": [1]})]

for binary in (False, True):
    with case("types, binary=%s" % binary, conn.rollback):
        cur = conn.cursor(binary=binary)
        for v in VALUES:
            cur.execute("select %b" if binary else "select %t", (v,))
            print(repr(cur.fetchone()[0]), cur.description[0].type_code)
        conn.commit()

with case("addresses, ranges, times with zones", conn.rollback):
    cur = conn.cursor()
    cur.execute("select %s, %s, %s, %s, %s",
                (ipaddress.ip_address("1.2.3.4"), ipaddress.ip_network("10.0.0.0/8"),
                 Range(1, 5, "[]"), Range(datetime.date(2024, 1, 1), None),
                 datetime.time(1, 2, 3, tzinfo=datetime.timezone.utc)))
    print(cur.fetchone())
    cur = conn.cursor(binary=True)
    cur.execute("select '1.2.3.4'::inet, '10.0.0.0/8'::cidr, int4range(1, 5), '[1,2)'::numrange, "
                "'{[1,2),[5,9)}'::int4multirange, '01:02+03'::timetz, b'101'::bit(3), "
                "'08:00:2b:01:02:03'::macaddr")
    print(cur.fetchone())
    conn.commit()

with case("schema and rows", conn.rollback):
    conn.execute("create table docs (id int generated always as identity primary key, url text "
                 "unique, n numeric(8,2), body jsonb)")
    with conn.cursor(row_factory=dict_row) as cur:
        cur.execute("insert into docs (url, n, body) values (%s, %s, %s) returning *",
                    ("a", 1.5, Jsonb({"k": 1})))
        print(cur.fetchone())
        cur.executemany("insert into docs (url, n) values (%s, %s) returning id",
                        [("b", 1), ("c", 2)], returning=True)
        print(cur.fetchone(), cur.nextset(), cur.fetchone())
    with conn.cursor(row_factory=namedtuple_row) as cur:
        print(cur.execute("select url, n from docs order by id").fetchall())
    conn.commit()

with case("prepared", conn.rollback):
    for i in range(8):
        print(conn.execute("select count(*) from docs where id > %s", (i,),
                           prepare=True).fetchone())
    conn.execute("alter table docs add extra int")
    print(conn.execute("select * from docs where id = %s", (1,), prepare=True).fetchone())
    conn.commit()

with case("pipeline", conn.rollback):
    with conn.pipeline() as p:
        a = conn.execute("insert into docs (url) values ('p1') returning url")
        b = conn.execute("select count(*) from docs")
        p.sync()
        print(a.fetchone(), b.fetchone())
    conn.commit()

with case("error in a pipeline", conn.rollback):
    try:
        with conn.pipeline():
            conn.execute("select 1")
            conn.execute("select nope")
            conn.execute("select 2")
    finally:
        conn.rollback()

with case("copy", conn.rollback):
    with conn.cursor() as cur:
        with cur.copy("copy docs (url, n) from stdin") as copy:
            copy.write_row(("x1", 3))
            copy.write_row(("x2", None))
        with cur.copy("copy docs (url, n) from stdin (format binary)") as copy:
            copy.set_types(["text", "numeric"])
            copy.write_row(("x3", decimal.Decimal("3.25")))
        with cur.copy("copy (select url, n from docs order by url) to stdout") as copy:
            for r in copy.rows():
                print(r)
    conn.commit()

with case("server cursor", conn.rollback):
    with conn.cursor("sc") as cur:
        cur.execute("select generate_series(1, 10)")
        print(cur.fetchmany(3), cur.fetchone())
        cur.scroll(2)
        print(cur.fetchone())
    conn.commit()

with case("enum", conn.rollback):
    conn.execute("create type mood as enum ('SAD', 'OK')")
    Mood = enum.Enum("Mood", "SAD OK")
    register_enum(EnumInfo.fetch(conn, "mood"), conn, Mood)
    conn.execute("create table m (m mood, l mood[])")
    conn.execute("insert into m values (%s, %s)", (Mood.OK, [Mood.SAD, Mood.OK]))
    for binary in (False, True):
        print(conn.cursor(binary=binary).execute("select * from m where m = %s",
                                                 (Mood.OK,)).fetchone())
    conn.commit()

with case("composite", conn.rollback):
    conn.execute("create type pair as (a int, b text)")
    info = CompositeInfo.fetch(conn, "pair")
    print(info.name, info.field_names, info.field_types)
    register_composite(info, conn)
    conn.execute("create table c (p pair, l pair[])")
    conn.execute("insert into c values (%s, %s)", (info.python_type(1, "x"),
                                                   [info.python_type(2, "y, z")]))
    for binary in (False, True):
        print(conn.cursor(binary=binary).execute("select p, l, (p).a from c").fetchone())
    conn.commit()

with case("transactions", conn.rollback):
    with conn.transaction():
        conn.execute("insert into docs (url) values ('t1')")
        try:
            with conn.transaction():
                conn.execute("insert into docs (url) values ('t1')")
        except psycopg.errors.UniqueViolation as e:
            print(e.sqlstate, e.diag.constraint_name, e.diag.message_detail)
        conn.execute("insert into docs (url) values ('t2')")
    print(conn.execute("select url from docs where url like 't_' order by 1").fetchall())
    conn.commit()

with case("isolation", conn.rollback):
    conn.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    conn.read_only = True
    print(conn.execute("show transaction_isolation").fetchone(),
          conn.execute("show transaction_read_only").fetchone())
    conn.rollback()
    conn.isolation_level = None
    conn.read_only = None

with case("notify", conn.rollback):
    conn.autocommit = True
    conn.execute("listen ch")
    with psycopg.connect("", autocommit=True) as other:
        other.execute("select pg_notify('ch', 'payload')")
    for n in conn.notifies():
        print(n.channel, n.payload)
        break
