import datetime
import decimal
import io
import threading
import uuid

import psycopg2
import psycopg2.extensions
import psycopg2.extras
import psycopg2.pool
from case import case

conn = psycopg2.connect("")
cur = conn.cursor()


def rows(query, args=None):
    cur.execute(query, args)
    for r in cur.fetchall():
        print(r)


with case("types both ways", conn.rollback):
    values = [1, 2**40, decimal.Decimal("12.50"), 1.5, True, "x'y", b"\x00\xff",
              datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 0, 1, 500),
              datetime.timedelta(days=1, seconds=2), datetime.time(1, 2, 3), None, [1, 2, 3],
              ["a", None, 'q"'], [datetime.date(2024, 1, 1)]]
    for v in values:
        cur.execute("select %s", (v,))
        got = cur.fetchone()[0]
        print(repr(bytes(got) if isinstance(got, memoryview) else got),
              cur.description[0].type_code)
    conn.commit()

with case("schema", conn.rollback):
    cur.execute("""create table docs (id serial primary key, url text unique not null,
        n int default 7, body jsonb, tags text[], u uuid, at timestamptz default '2024-01-01')""")
    cur.execute("create index on docs (n)")
    conn.commit()
    print(cur.statusmessage)

with case("insert returning", conn.rollback):
    psycopg2.extras.register_uuid()
    cur.execute("insert into docs (url, body, tags, u) values (%s, %s, %s, %s) returning id, n, u",
                ("a", psycopg2.extras.Json({"k": [1]}), ["x", "y"],
                 uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")))
    print(cur.fetchone())
    conn.commit()

with case("execute_values", conn.rollback):
    got = psycopg2.extras.execute_values(
        cur, "insert into docs (url, n) values %s returning id", [("u%d" % i, i) for i in range(5)],
        fetch=True)
    print(got)
    psycopg2.extras.execute_batch(cur, "update docs set n = n + %s where url = %s",
                                  [(i, "u%d" % i) for i in range(5)])
    conn.commit()
    rows("select url, n from docs order by id")

with case("upsert tells insert from update", conn.rollback):
    for _ in range(2):
        cur.execute("insert into docs (url) values ('z') on conflict (url) do update set n = 8 "
                    "returning n, (xmax = 0) as inserted")
        print(cur.fetchone())
    conn.commit()

with case("errors", conn.rollback):
    for q in ["insert into docs (url) values ('a')", "select nope", "select 1/0", "selec 1",
              "insert into docs (url) values (null)", "select * from nothere"]:
        try:
            cur.execute(q)
        except psycopg2.Error as e:
            print(e.pgcode, type(e).__name__, e.diag.message_primary, e.diag.constraint_name,
                  e.diag.statement_position)
            conn.rollback()

with case("copy", conn.rollback):
    cur.copy_from(io.StringIO("c1\t1\nc2\t\\N\n"), "docs", columns=("url", "n"))
    out = io.StringIO()
    cur.copy_expert("copy (select url, n from docs order by url) to stdout with csv header", out)
    print(out.getvalue())
    conn.commit()

with case("server-side cursor", conn.rollback):
    named = conn.cursor("c", scrollable=True)
    named.itersize = 2
    named.execute("select url from docs order by url")
    print(named.fetchmany(3))
    named.scroll(-2)
    print(named.fetchone())
    named.close()
    conn.commit()

with case("cursor with hold", conn.rollback):
    held = conn.cursor("h", withhold=True)
    held.execute("select generate_series(1, 3)")
    conn.commit()
    print(held.fetchall())
    held.close()
    conn.commit()

with case("temporary table", conn.rollback):
    cur.execute("create temporary table t (a int) on commit drop")
    cur.execute("insert into t select generate_series(1, 3)")
    rows("select sum(a) from t")
    conn.commit()
    rows("select to_regclass('t')")
    conn.commit()

with case("enum and composite", conn.rollback):
    cur.execute("create type mood as enum ('sad', 'ok')")
    cur.execute("create type pair as (a int, b text)")
    cur.execute("create table p (m mood, x pair, l mood[])")
    psycopg2.extras.register_composite("pair", cur)
    cur.execute("insert into p values (%s, %s, %s::mood[])", ("ok", (1, "b"), ["sad", "ok"]))
    rows("select m, x, (x).b, l::text[] from p")
    conn.commit()

with case("hstore and ranges", conn.rollback):
    cur.execute("create extension if not exists hstore")
    psycopg2.extras.register_hstore(conn)
    cur.execute("select %s", ({"a": "1", "b": None},))
    print(sorted(cur.fetchone()[0].items()))
    cur.execute("select int4range(1, 5), %s", (psycopg2.extras.DateRange(
        datetime.date(2024, 1, 1), None),))
    print(cur.fetchone())
    conn.commit()

with case("inet", conn.rollback):
    psycopg2.extras.register_inet()
    cur.execute("select %s, '10.0.0.0/8'::cidr, '1.2.3.4'::inet << '1.0.0.0/8'",
                (psycopg2.extras.Inet("192.168.0.1/24"),))
    print([str(v) for v in cur.fetchone()])
    conn.commit()

with case("large object", conn.rollback):
    lo = conn.lobject(0, "wb")
    lo.write(b"hello world")
    oid = lo.oid
    lo.close()
    conn.commit()
    lo = conn.lobject(oid, "rb")
    lo.seek(6)
    print(lo.read(), lo.tell())
    lo.close()
    lo = conn.lobject(oid, "rw")
    lo.truncate(5)
    lo.close()
    print(conn.lobject(oid).read())
    conn.lobject(oid).unlink()
    conn.commit()

with case("two phases", conn.rollback):
    conn.commit()
    x = conn.xid(1, "gtrid", "bqual")
    conn.tpc_begin(x)
    cur.execute("insert into docs (url) values ('tpc')")
    conn.tpc_rollback()
    rows("select count(*) from docs where url = 'tpc'")
    conn.commit()

with case("notify", conn.rollback):
    conn.commit()
    conn.autocommit = True
    cur.execute("listen ch")
    cur.execute("notify ch, 'hello'")
    conn.poll()
    print([(n.channel, n.payload) for n in conn.notifies])
    conn.autocommit = False

with case("notices", conn.rollback):
    del conn.notices[:]
    cur.execute("drop table if exists nothere")
    print(conn.notices)
    conn.commit()

with case("pool", conn.rollback):
    cur.execute("create table counter (n int)")
    cur.execute("insert into counter values (0)")
    conn.commit()
    pool = psycopg2.pool.ThreadedConnectionPool(1, 8, "")

    def work():
        for _ in range(5):
            c = pool.getconn()
            with c, c.cursor() as k:
                k.execute("update counter set n = n + 1")
            pool.putconn(c)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    rows("select n from counter")
    conn.commit()

with case("isolation and status", conn.rollback):
    conn.set_session(isolation_level="SERIALIZABLE", readonly=True)
    rows("show transaction_isolation")
    try:
        cur.execute("delete from docs")
    except psycopg2.Error as e:
        print(e.pgcode, e.diag.message_primary)
    conn.rollback()
    conn.set_session(isolation_level="DEFAULT", readonly="DEFAULT")
    print(conn.get_parameter_status("server_version").split(".")[0],
          conn.get_parameter_status("standard_conforming_strings"), conn.server_version // 10000)

with case("named tuples and dictionaries", conn.rollback):
    with conn.cursor(cursor_factory=psycopg2.extras.NamedTupleCursor) as k:
        k.execute("select url, n from docs order by url limit 1")
        print(k.fetchone())
    with conn.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as k:
        k.execute("select url, n from docs order by url limit 1")
        print(dict(k.fetchone()))
    conn.commit()
