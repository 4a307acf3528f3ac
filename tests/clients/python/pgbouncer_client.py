"""Programs behind PgBouncer, which gives a server's connection to one client after another."""
import os
import socket
import subprocess
import tempfile
import threading
import time

import psycopg2
from case import case


class Bouncer:
    def __init__(self, mode):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.dir = tempfile.TemporaryDirectory()
        os.chmod(self.dir.name, 0o777)
        path = os.path.join(self.dir.name, "pgbouncer.ini")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"""[databases]
* = host=127.0.0.1 port={os.environ['PGPORT']} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 2
server_check_delay = 0
server_reset_query_always = {int(mode == 'session')}
ignore_startup_parameters = extra_float_digits
""")
        as_user = ["-u", "daemon"] if os.getuid() == 0 else []
        self.process = subprocess.Popen(["/usr/sbin/pgbouncer", "-q", *as_user, path],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    def connect(self, **more):
        return psycopg2.connect(host="127.0.0.1", port=self.port, **more)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.dir.cleanup()


def ask(cur, query):
    cur.execute(query)
    print(query, cur.fetchall())


session = Bouncer("session")
with case("DISCARD ALL between clients"):
    conn = session.connect()
    conn.autocommit = True
    cur = conn.cursor()
    cur.execute("set timezone = 'Asia/Tokyo'; set search_path = pg_catalog; listen z")
    cur.execute("prepare p as select 1")
    cur.execute("create temp table left_over (a int)")
    cur.execute("declare c cursor with hold for select 1")
    cur.execute("select pg_advisory_lock(5), set_config('app.user', 'x', false)")
    conn.close()
    conn = session.connect()
    conn.autocommit = True
    cur = conn.cursor()
    for q in ("select count(*) from pg_prepared_statements", "select count(*) from pg_cursors",
              "show search_path", "select count(*) from pg_listening_channels()",
              "select count(*) from pg_locks where locktype = 'advisory'",
              "select to_regclass('left_over')", "select current_setting('app.user', true)",
              "select current_setting('timezone') = 'Asia/Tokyo'",
              "select current_user, session_user"):
        ask(cur, q)
    conn.close()

with case("parameters of the startup"):
    conn = session.connect(application_name="shop", client_encoding="UTF8")
    cur = conn.cursor()
    ask(cur, "show application_name")
    ask(cur, "show client_encoding")
    conn.close()
session.close()

shared = Bouncer("transaction")
with case("transactions of many clients on two connections"):
    conn = shared.connect()
    cur = conn.cursor()
    cur.execute("create table entry (id int primary key, n int)")
    conn.commit()
    cur.execute("insert into entry values (0, 0)")
    conn.commit()

    def work(i):
        c = shared.connect()
        for j in range(5):
            with c, c.cursor() as k:
                k.execute("insert into entry values (%s, 1)", (1 + i * 10 + j,))
                k.execute("update entry set n = n + 1 where id = 0")
        c.close()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ask(cur, "select count(*), sum(n) from entry")
    conn.commit()

with case("an error in a block"):
    with conn:
        with conn.cursor() as k:
            k.execute("insert into entry values (0, 0)")

with case("SET LOCAL and advisory locks of the transaction"):
    with conn, conn.cursor() as k:
        k.execute("set local statement_timeout = 1234")
        k.execute("select pg_advisory_xact_lock(7)")
        ask(k, "show statement_timeout")
    with conn, conn.cursor() as k:
        ask(k, "show statement_timeout")
        ask(k, "select count(*) from pg_locks where locktype = 'advisory'")

with case("cancel"):
    with conn, conn.cursor() as k:
        timer = threading.Timer(0.3, conn.cancel)
        timer.start()
        k.execute("select pg_sleep(10)")

with case("copy"):
    with conn, conn.cursor() as k:
        import io
        k.copy_expert("copy entry from stdin", io.StringIO("500\t1\n501\t2\n"))
        out = io.StringIO()
        k.copy_expert("copy (select * from entry where id >= 500 order by id) to stdout", out)
        print(out.getvalue())
conn.close()
shared.close()
