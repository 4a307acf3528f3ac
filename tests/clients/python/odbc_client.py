import os

import pyodbc
from case import case

BASE = (f"DRIVER=/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so;SERVER=127.0.0.1;SSLmode=disable;"
        f"PORT={os.environ['PGPORT']};DATABASE={os.environ['PGDATABASE']};UID=postgres;")
conn = pyodbc.connect(BASE)
cur = conn.cursor()


def rows(result):
    for r in result.fetchall():
        print(tuple(r))


with case("schema", conn.rollback):
    cur.execute("""create table a (id serial primary key, n numeric(8,2), t text not null
        default 'x', d date, ts timestamptz, b bytea, j jsonb, ar int[], bo bool, f float8, u uuid,
        iv interval, c char(5), v varchar(7), bi bigint)""")
    cur.execute("""create table b (x int, y text, a_id int references a(id) on update cascade
        on delete set null, primary key (x, y))""")
    cur.execute("create index b_y on b (y desc, x)")
    cur.execute("create unique index b_x on b (x) where y > 'a'")
    cur.execute("create view va as select id, t from a")
    cur.execute("""insert into a (n, t, d, ts, b, j, ar, bo, f, u, iv, c, v, bi) values (1.5, 'é',
        '2024-02-29', '2024-02-29 12:00:00.123456+00', '\\x00ff', '{"a":1}', '{1,2,NULL}', true,
        2.5, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '1 day 02:00', 'ab', 'cd', 9007199254740993)""")
    conn.commit()

with case("tables", conn.rollback):
    rows(cur.tables(schema="public"))

with case("columns", conn.rollback):
    for r in cur.columns(table="a"):  # psqlODBC adds the table's OID
        print(r.column_name, r.data_type, r.type_name, r.column_size, r.nullable, r.column_def,
              r.ordinal_position)

with case("keys", conn.rollback):
    rows(cur.primaryKeys("b"))
    rows(cur.foreignKeys(foreignTable="b"))
    rows(cur.foreignKeys(table="a"))

with case("indexes", conn.rollback):
    rows(cur.statistics("b"))
    rows(cur.rowIdColumns("a"))
    rows(cur.rowVerColumns("a"))

with case("types of the server", conn.rollback):
    rows(cur.getTypeInfo())

with case("procedures", conn.rollback):
    for r in cur.procedureColumns("upper"):
        print(r.procedure_name, r.column_type, r.type_name, r.ordinal_position)

for name, options in [("plain", ""), ("statements on the server", "UseServerSidePrepare=1;"),
                      ("cursors", "UseDeclareFetch=1;Fetch=2;"),
                      ("long binary", "ByteaAsLongVarBinary=1;BoolsAsChar=0;MaxVarcharSize=100;")]:
    other = pyodbc.connect(BASE + options)
    c = other.cursor()
    with case("types, " + name, other.rollback):
        rows(c.execute("select * from a"))
        print([(d[0], d[1].__name__, d[3], d[4], d[5], d[6]) for d in c.description])
        rows(c.execute("select id from a where id = ? and t = ? and n = ?", 1, "é", 1.5))
        rows(c.execute("select * from generate_series(1, ?) g", 5))
    with case("writes, " + name, other.rollback):
        c.executemany("insert into b values (?, ?, ?)", [(i, f"y{i}", None) for i in range(3)])
        c.execute("update b set y = ? where x > ?", "z", 0)
        print(c.rowcount)
        c.execute("insert into b values (0, 'y0')")
    with case("errors, " + name, other.rollback):
        c.execute("select nope from a")
    with case("escapes, " + name, other.rollback):
        rows(c.execute("{call upper(?)}", "x"))
        rows(c.execute("select {fn ucase('a')}, {d '2024-01-01'}, {ts '2024-01-01 00:00:00'}"))
    other.close()
