"""pgcli: what it asks the server at its start and for completion, and its backslash commands."""
import os

from case import case
from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial

ex = PGExecute(database=os.environ["PGDATABASE"], user="postgres", host=os.environ["PGHOST"],
               port=int(os.environ["PGPORT"]))
special = PGSpecial()


def run(text):
    for title, rows, headers, status, *_ in ex.run(text, special):
        if title:
            print(title.strip())
        if headers:
            print("|".join(headers))
        for r in rows or []:
            print("|".join("" if v is None else str(v) for v in r))
        if status:
            print(status.split("\nTime")[0])


with case("schema"):
    run("create table author (id serial primary key, name varchar(40) unique not null); "
        "create table book (id int primary key, author int references author, title text "
        "default 'x' check (title <> '')); create view titles as select title from book; "
        "create index book_title on book (title); comment on table book is 'what is read'")

with case("completion"):
    print(ex.search_path(), ex.schemata())
    for own in (ex.tables(), ex.views(), ex.table_columns(), ex.view_columns()):
        print(sorted(o for o in own if o[0] == "public"))
    print([tuple(fk) for fk in ex.foreignkeys()])
    print(sorted(ex.databases())[-3:] != [])
    print(list(ex.datatypes()))
    print(sorted(f.func_name for f in ex.functions() if f.schema_name == "public"))
    print(len({f.func_name for f in ex.functions() if f.func_name in ("lower", "now", "sum")}))
    print(ex.get_socket_directory() is not None, ex.server_version.split(".")[0],
          ex.is_superuser() if hasattr(ex, "is_superuser") else "")

for command in [r"\d", r"\d book", r"\d+ author", r"\dt", r"\dv", r"\ds", r"\di", r"\dn", r"\du",
                r"\df lower", r"\dT", r"\x", r"\l nothere", r"\sf lower", r"\dD", r"\dE", r"\db",
                r"\dp book", r"\ddp", r"\dx", r"\dF"]:
    with case(command):
        run(command)

with case("errors"):
    run("select nope")
