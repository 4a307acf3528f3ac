import asyncio
import datetime
import decimal
import ipaddress
import uuid

import asyncpg
from case import case


async def main():
    conn = await asyncpg.connect()

    with case("types both ways"):
        for cast, v in [("int", 1), ("bigint", 2**40), ("numeric", decimal.Decimal("12.50")),
                        ("float8", 1.5), ("bool", True), ("text", "x'y"), ("bytea", b"\x00\xff"),
                        ("date", datetime.date(2024, 2, 29)),
                        ("timestamp", datetime.datetime(2024, 2, 29, 12, 0, 1, 500)),
                        ("timestamptz", datetime.datetime(2024, 2, 29,
                                                          tzinfo=datetime.timezone.utc)),
                        ("interval", datetime.timedelta(days=1, seconds=2)),
                        ("time", datetime.time(1, 2, 3)), ("jsonb", '{"a": 1}'),
                        ("uuid", uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")),
                        ("int[]", [1, None, 3]), ("text[]", ["a", None]),
                        ("int[]", [[1, 2], [3, 4]])]:
            print(cast, repr(await conn.fetchval("select $1::" + cast, v)))

    with case("more types"):
        for cast, v in [("inet", ipaddress.ip_address("1.2.3.4")),
                        ("cidr", ipaddress.ip_network("10.0.0.0/8")),
                        ("int4range", asyncpg.Range(1, 5)),
                        ("daterange", asyncpg.Range(datetime.date(2024, 1, 1), None)),
                        ("bit(3)", asyncpg.BitString("101")),
                        ("timetz", datetime.time(1, 2, 3, tzinfo=datetime.timezone.utc))]:
            print(cast, repr(await conn.fetchval("select $1::" + cast, v)))

    with case("schema"):
        await conn.execute("""create table docs (id serial primary key, url text unique, n int,
            tags text[], body jsonb); create index on docs (n)""")
        print(await conn.execute("insert into docs (url, n) values ('a', 1), ('b', 2)"))

    with case("introspection of arrays, records and user types"):
        print(await conn.fetch("select id from docs where id = any($1::int[]) order by 1", [1, 2]))
        print(await conn.fetchval("select array_agg(url order by url) from docs"))
        print(await conn.fetchval("select row(1, 'x'::text, null::int)"))
        print(await conn.fetchval("select docs from docs where id = 1"))
        await conn.execute("create type mood as enum ('sad', 'ok')")
        await conn.execute("create type pair as (a int, m mood)")
        await conn.execute("create domain posint as int check (value > 0)")
        print(await conn.fetchrow("select $1::mood, $2::pair, $3::posint, $4::mood[]", "ok",
                                  (1, "sad"), 3, ["sad"]))

    with case("codecs"):
        import json
        await conn.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads,
                                  schema="pg_catalog")
        print(await conn.fetchval("select $1::jsonb", {"k": [1, 2]}))

    with case("executemany and returning"):
        await conn.executemany("insert into docs (url, n) values ($1, $2)",
                               [("m%d" % i, i) for i in range(5)])
        print(await conn.fetchrow("insert into docs (url) values ('r') returning id, url"))

    with case("errors end at once"):
        for q, args in [("select nope", []), ("select 1/$1::int", [0]),
                        ("insert into docs (url) values ($1)", ["a"]), ("selec", []),
                        ("select $1::posint", [-1])]:
            try:
                print(await conn.fetch(q, *args))
            except asyncpg.PostgresError as e:
                print(e.sqlstate, type(e).__name__, e.message, e.as_dict().get("constraint_name"))

    with case("transactions"):
        tr = conn.transaction(isolation="repeatable_read")
        await tr.start()
        await conn.execute("insert into docs (url) values ('t')")
        try:
            async with conn.transaction():
                await conn.execute("insert into docs (url) values ('t')")
        except asyncpg.UniqueViolationError as e:
            print(e.sqlstate)
        await tr.commit()
        print(await conn.fetchval("select count(*) from docs where url = 't'"))

    with case("cursor"):
        async with conn.transaction():
            seen = []
            async for r in conn.cursor("select generate_series(1, 7) as n", prefetch=3):
                seen.append(r["n"])
            print(seen)
            cur = await conn.cursor("select generate_series(1, 7)")
            await cur.forward(2)
            print(await cur.fetch(2))

    with case("copy"):
        print(await conn.copy_records_to_table("docs", records=[("c1", 1), ("c2", None)],
                                               columns=["url", "n"]))
        import io
        out = io.BytesIO()
        print(await conn.copy_from_query("select url, n from docs order by url", output=out,
                                         format="csv"))
        print(out.getvalue().decode())

    with case("prepared statement"):
        st = await conn.prepare("select url, n, tags from docs where n > $1 order by url")
        print([p.name for p in st.get_parameters()],
              [(a.name, a.type.name) for a in st.get_attributes()])
        print(await st.fetch(2))
        print(st.get_statusmsg())

    with case("listen"):
        got = asyncio.get_running_loop().create_future()
        await conn.add_listener("ch", lambda c, pid, channel, payload: got.set_result(payload))
        await conn.execute("notify ch, 'hello'")
        print(await asyncio.wait_for(got, 10))

    with case("pool and reset"):
        async with asyncpg.create_pool(min_size=2, max_size=8) as pool:
            await pool.execute("create table counter (n int); insert into counter values (0)")
            await asyncio.gather(*[pool.execute("update counter set n = n + 1")
                                   for _ in range(40)])
            print(await pool.fetchval("select n from counter"))

    with case("timeout cancels"):
        try:
            await conn.fetch("select pg_sleep(30)", timeout=0.2)
        except asyncio.TimeoutError:
            print("timeout")
        print(await conn.fetchval("select 1"))

    await conn.close()


asyncio.run(main())
