import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** pgjdbc: statements, transactions, batches, cursors, COPY, and its metadata. */
public class Client {
    static Connection db;

    interface Body { void run() throws Exception; }

    static void testCase(String name, Body body) throws Exception {
        System.out.println("== " + name);
        try {
            body.run();
        } catch (SQLException e) {
            System.out.println(e.getSQLState() + " " + e.getMessage().split("\n")[0]);
            if (!db.getAutoCommit()) {
                db.rollback();
                db.setAutoCommit(true);
            }
        }
    }

    static void show(ResultSet r, String... columns) throws Exception {
        ResultSetMetaData m = r.getMetaData();
        while (r.next()) {
            StringJoiner line = new StringJoiner("|");
            if (columns.length == 0) {
                for (int i = 1; i <= m.getColumnCount(); i++) line.add(r.getString(i));
            } else {
                for (String c : columns) line.add(r.getString(c));
            }
            System.out.println(line);
        }
    }

    static void query(String q, Object... args) throws Exception {
        try (PreparedStatement st = db.prepareStatement(q)) {
            for (int i = 0; i < args.length; i++) st.setObject(i + 1, args[i]);
            show(st.executeQuery());
        }
    }

    static void exec(String q) throws Exception {
        try (Statement st = db.createStatement()) {
            st.execute(q);
        }
    }

    public static void main(String[] a) throws Exception {
        db = DriverManager.getConnection("jdbc:postgresql://" + System.getenv("PGHOST") + ":"
            + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"), "postgres", "");
        testCase("schema", () -> {
            exec("create table author (id serial primary key, name varchar(40) unique not null, "
                + "price numeric(8,2) default 1.5, tags text[], made timestamptz, ok boolean)");
            exec("create table book (id bigint generated always as identity primary key, "
                + "author int "
                + "references author on delete cascade, title text)");
            exec("create index book_title on book (title desc)");
            exec("create view titles as select title from book");
            exec("comment on column book.title is 'its title'");
        });
        testCase("types", () -> {
            try (PreparedStatement st = db.prepareStatement(
                    "insert into author (name, price, tags, "
                + "made, ok) values (?, ?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
                st.setString(1, "Ada");
                st.setBigDecimal(2, new BigDecimal("2.50"));
                st.setArray(3, db.createArrayOf("text", new String[] {"x", null}));
                st.setObject(4, OffsetDateTime.of(2024, 2, 29, 12, 0, 0, 0, ZoneOffset.UTC));
                st.setBoolean(5, true);
                System.out.println(st.executeUpdate());
                show(st.getGeneratedKeys(), "id", "name");
            }
            for (int i = 0; i < 7; i++) {
                query("select ?::int + 1, ?::text, ?::date, ?::uuid, ?::float8, ?", i, "s",
                    LocalDate.of(2024, 2, 29),
                    UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
                    1.5, true);
            }
        });
        testCase("transactions", () -> {
            db.setAutoCommit(false);
            exec("insert into author (name) values ('T')");
            Savepoint s = db.setSavepoint();
            try {
                exec("insert into author (name) values ('T')");
            } catch (SQLException e) {
                System.out.println(e.getSQLState());
                db.rollback(s);
            }
            db.commit();
            db.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            query("show transaction_isolation");
            db.rollback();
            db.setReadOnly(true);
            query("show transaction_read_only");
            db.commit();
            db.setReadOnly(false);
            db.setAutoCommit(true);
            db.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        });
        testCase("batch", () -> {
            try (PreparedStatement st = db.prepareStatement("insert into book (author, title) "
                + "values (?, ?)")) {
                for (int i = 0; i < 5; i++) {
                    st.setInt(1, 1);
                    st.setString(2, "b" + i);
                    st.addBatch();
                }
                System.out.println(Arrays.toString(st.executeBatch()));
            }
            query("select count(*) from book");
        });
        testCase("batch with an error", () -> {
            try (Statement st = db.createStatement()) {
                st.addBatch("insert into author (name) values ('B1')");
                st.addBatch("insert into author (name) values ('B1')");
                st.executeBatch();
            } catch (BatchUpdateException e) {
                System.out.println(e.getSQLState() + " " + Arrays.toString(e.getUpdateCounts()));
            }
        });
        testCase("cursor by fetch size", () -> {
            db.setAutoCommit(false);
            try (Statement st = db.createStatement()) {
                st.setFetchSize(3);
                show(st.executeQuery("select generate_series(1, 8)"));
            }
            db.commit();
            db.setAutoCommit(true);
        });
        testCase("updatable result set", () -> {
            try (Statement st = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE,
                ResultSet.CONCUR_UPDATABLE)) {
                ResultSet r = st.executeQuery("select id, name, price from author where id = 1");
                r.next();
                r.updateBigDecimal("price", new BigDecimal("9.00"));
                r.updateRow();
                query("select price from author where id = 1");
            }
        });
        testCase("calls", () -> {
            try (CallableStatement st = db.prepareCall("{? = call upper(?)}")) {
                st.registerOutParameter(1, Types.VARCHAR);
                st.setString(2, "abc");
                st.execute();
                System.out.println(st.getString(1));
            }
            query("select {fn ucase('x')}, {d '2024-02-29'}, {ts '2024-02-29 01:02:03'}");
        });
        testCase("copy", () -> {
            CopyManager m = ((PGConnection) db).getCopyAPI();
            System.out.println(m.copyIn("copy book (author, title) from stdin",
                new StringReader("1\tc1\n1\tc2\n")));
            java.io.StringWriter out = new java.io.StringWriter();
            String copy = "copy (select title from book order by 1) to stdout";
            System.out.println(m.copyOut(copy, out));
            System.out.println(out);
        });
        testCase("notifications", () -> {
            exec("listen ch");
            exec("notify ch, 'hello'");
            for (var n : ((PGConnection) db).getNotifications(2000)) {
                System.out.println(n.getName() + " " + n.getParameter());
            }
        });
        testCase("large objects", () -> {
            db.setAutoCommit(false);
            var m = ((PGConnection) db).getLargeObjectAPI();
            long oid = m.createLO();
            var o = m.open(oid);
            o.write("hello".getBytes());
            o.seek(1);
            System.out.println(new String(o.read(10)) + " " + o.size());
            o.close();
            m.delete(oid);
            db.commit();
            db.setAutoCommit(true);
        });
        testCase("user types", () -> {
            exec("create type mood as enum ('sad', 'ok')");
            exec("create table m (m mood, r int4range, i inet, x xml)");
            try (PreparedStatement st = db.prepareStatement("insert into m (m, r, i) values "
                + "(?::mood, ?::int4range, ?::inet)")) {
                st.setString(1, "ok");
                st.setString(2, "[1,5)");
                st.setString(3, "10.0.0.1");
                st.executeUpdate();
            }
            query("select m, r, i from m");
        });
        DatabaseMetaData meta = db.getMetaData();
        testCase("getTables", () -> show(meta.getTables(null, "public", "%", new String[] {"TABLE",
            "VIEW"}), "TABLE_NAME", "TABLE_TYPE", "REMARKS"));
        testCase("getColumns", () -> show(meta.getColumns(null, "public", "%", "%"), "TABLE_NAME",
            "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE",
            "REMARKS", "COLUMN_DEF", "ORDINAL_POSITION", "IS_AUTOINCREMENT"));
        testCase("getPrimaryKeys", () -> show(meta.getPrimaryKeys(null, "public", "book"),
            "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        testCase("getIndexInfo", () -> show(meta.getIndexInfo(null, "public", "book", false, true),
            "INDEX_NAME", "NON_UNIQUE", "COLUMN_NAME", "ASC_OR_DESC", "TYPE"));
        testCase("getImportedKeys", () -> show(meta.getImportedKeys(null, "public", "book"),
            "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME", "DELETE_RULE",
            "FK_NAME"));
        testCase("getExportedKeys", () -> show(meta.getExportedKeys(null, "public", "author"),
            "FKTABLE_NAME", "FKCOLUMN_NAME"));
        testCase("getBestRowIdentifier", () -> show(meta.getBestRowIdentifier(null, "public",
            "book", DatabaseMetaData.bestRowTransaction, false), "COLUMN_NAME", "TYPE_NAME"));
        testCase("getSchemas", () -> show(meta.getSchemas(), "TABLE_SCHEM"));
        testCase("getFunctions", () -> show(meta.getFunctions(null, "pg_catalog", "lower"),
            "FUNCTION_NAME", "SPECIFIC_NAME"));
        testCase("getFunctionColumns", () -> show(meta.getFunctionColumns(null, "pg_catalog",
            "substr", "%"), "FUNCTION_NAME", "COLUMN_TYPE", "TYPE_NAME", "ORDINAL_POSITION"));
        testCase("getTypeInfo", () -> {
            int n = 0;
            ResultSet r = meta.getTypeInfo();
            while (r.next()) {
                String name = r.getString("TYPE_NAME");
                if (List.of("int4", "text", "bool", "jsonb").contains(name)) n++;
            }
            System.out.println(n);
        });
        testCase("getUDTs", () -> show(meta.getUDTs(null, "public", "%", null), "TYPE_NAME",
            "DATA_TYPE"));
        testCase("getSQLKeywords", () -> System.out.println(meta.getSQLKeywords().length() > 100));
        testCase("getTablePrivileges", () -> show(meta.getTablePrivileges(null, "public", "book"),
            "TABLE_NAME", "GRANTEE", "PRIVILEGE"));
        testCase("getProcedures, getCatalogs", () -> {
            show(meta.getProcedures(null, "public", "%"), "PROCEDURE_NAME");
            System.out.println(meta.getMaxColumnNameLength() + " " + meta.getMaxColumnsInIndex()
                + " " + meta.getDatabaseMajorVersion());
        });
        testCase("result set metadata", () -> {
            try (Statement st = db.createStatement()) {
                ResultSetMetaData m = st.executeQuery(
                        "select id, name as n, price, tags, 1 + 1 as c "
                    + "from author").getMetaData();
                for (int i = 1; i <= m.getColumnCount(); i++) {
                    System.out.println(m.getColumnName(i) + " " + m.getColumnTypeName(i) + " "
                        + m.getPrecision(i) + " " + m.getScale(i) + " " + m.isNullable(i) + " "
                        + m.isAutoIncrement(i) + " " + m.getTableName(i));
                }
            }
        });
        testCase("parameter metadata", () -> {
            try (PreparedStatement st = db.prepareStatement("select * from author where id = ? and "
                + "name = ?")) {
                for (int i = 1; i <= 2; i++) {
                    System.out.println(st.getParameterMetaData().getParameterTypeName(i));
                }
            }
        });
        testCase("cancel and time-out", () -> {
            try (Statement st = db.createStatement()) {
                st.setQueryTimeout(1);
                st.execute("select pg_sleep(30)");
            }
        });
        db.close();
    }
}
