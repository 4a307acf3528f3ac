-- Views of all options, what protects rows, privileges.
SET search_path = app, public;
CREATE VIEW v_simple AS SELECT a, b, c FROM parent WHERE a > 1;
CREATE VIEW v_names (first, "Second") AS SELECT a, b AS x FROM parent;
CREATE VIEW v_local AS SELECT * FROM parent WHERE a > 0 WITH LOCAL CHECK OPTION;
CREATE VIEW v_cascaded AS SELECT * FROM v_local WHERE b > 0 WITH CASCADED CHECK OPTION;
CREATE VIEW v_barrier WITH (security_barrier) AS SELECT * FROM parent;
CREATE VIEW v_invoker WITH (security_invoker = true, security_barrier = false) AS SELECT * FROM v_simple;
CREATE VIEW v_options WITH (check_option = local, security_barrier = true) AS SELECT a FROM parent WHERE a < 9;
ALTER VIEW v_simple ALTER COLUMN a SET DEFAULT 5;
CREATE VIEW v_query AS
  WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5), s AS MATERIALIZED (SELECT max(n) FROM r)
  SELECT p.a, count(*) FILTER (WHERE c.b > 0) AS n, sum(c.x) OVER w AS sums,
    CASE p.c WHEN 'x' THEN 1 WHEN 'y' THEN 2 ELSE NULL END AS k, array_agg(DISTINCT c.id ORDER BY c.id DESC) AS ids,
    EXISTS (SELECT 1 FROM child x WHERE x.a = p.a) AS any, (SELECT max FROM s) AS top,
    p.c::varchar(3) || '!' AS bang, p.a BETWEEN 1 AND 3 AS mid, ROW(p.a, p.b) = ROW(1, 2) AS r
  FROM parent p LEFT JOIN child c USING (a, b) CROSS JOIN LATERAL generate_series(1, p.a) AS g(i)
    JOIN r ON r.n = g.i
  WHERE p.c !~~ 'z%' AND p.a NOT IN (SELECT a FROM child WHERE a IS NOT NULL) AND (p.b, p.a) > (0, 0)
  GROUP BY p.a, p.b, p.c, c.x, c.a, c.b HAVING count(*) > 0
  WINDOW w AS (PARTITION BY p.a ORDER BY p.b DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  ORDER BY p.a DESC NULLS LAST, 2 LIMIT 10 OFFSET 1;
CREATE VIEW v_values AS VALUES (1, 'x'), (2, 'y');
CREATE VIEW v_sets AS SELECT a AS column1 FROM parent UNION ALL (SELECT b FROM parent EXCEPT SELECT id FROM child) INTERSECT VALUES (1), (2)
  ORDER BY 1;
CREATE VIEW v_groups AS SELECT a, b, GROUPING(a, b), count(*) FROM parent GROUP BY GROUPING SETS ((a), (a, b), ());
CREATE VIEW v_rollup AS SELECT a, b, max(c) FROM parent GROUP BY ROLLUP (a, b);
CREATE VIEW v_cube AS SELECT a, b, max(c) FROM parent GROUP BY CUBE (a, b);
CREATE VIEW v_calls AS SELECT extract(year FROM now()) AS y, now() AT TIME ZONE 'UTC' AS z, trim(both 'x' from c) AS t,
  substring(c from 2 for 3) AS s, position('a' in c) AS p, overlay(c placing 'q' from 1) AS o, c COLLATE "C" > 'x' AS cc,
  coalesce(a, b, 0) AS co, nullif(a, b) AS nu, greatest(a, b) AS gr, a IS DISTINCT FROM b AS d, (ARRAY[a, b])[1] AS el,
  ARRAY[a, b] || 3 AS arr, '{"a": 1}'::jsonb -> 'a' AS j, interval '1 day' * a AS iv, - a AS neg, NOT a > b AS n,
  a::float8 / 2 AS fl, CURRENT_USER AS u, CURRENT_DATE AS cd, a = ANY ('{1,2}') AS an, a <> ALL (ARRAY[b]) AS al, parent AS whole,
  c LIKE 'a\%%' ESCAPE '\' AS lk, c SIMILAR TO 'a|b' AS si, row_number() OVER () AS rn, lag(a, 2) OVER (ORDER BY b) AS la
  FROM parent;
CREATE VIEW v_distinct AS SELECT DISTINCT ON (a) a, b FROM parent ORDER BY a, b;
CREATE VIEW v_locks AS SELECT a FROM parent FOR UPDATE OF parent SKIP LOCKED;
CREATE VIEW v_functions AS SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS u(ua, ub, n),
  ROWS FROM (generate_series(1, 3), generate_series(5, 6)) AS rf(x, y),
  jsonb_to_recordset('[{"a": 1}]') AS jr(ja int, jb text);
CREATE VIEW v_joins AS SELECT j.*, k.e, room FROM (parent p JOIN child c ON p.a = c.a) j(pa, pb, pc) FULL JOIN keys k ON k.id = j.pa
  CROSS JOIN (SELECT room, 1 AS one FROM booking.excluded) e CROSS JOIN LATERAL (VALUES (j.pa, 'x'), (2, 'y')) l(p, q);
CREATE VIEW "View Q" AS SELECT "a b", "select" FROM "Mixed Case";
CREATE OR REPLACE RECURSIVE VIEW v_rec (n) AS VALUES (1) UNION SELECT n + 1 FROM v_rec WHERE n < 3;
COMMENT ON VIEW v_simple IS 'a view';
COMMENT ON COLUMN v_simple.a IS 'of a view';
CREATE MATERIALIZED VIEW mv AS SELECT a, c FROM parent;
CREATE UNIQUE INDEX mv_a ON mv (a);
CREATE MATERIALIZED VIEW mv_empty (x, y) WITH (fillfactor = 50) AS SELECT a, count(*) FROM mv GROUP BY a WITH NO DATA;
CREATE INDEX mv_c ON mv_empty (y) WHERE x > 1;
COMMENT ON MATERIALIZED VIEW mv IS 'kept';
ALTER MATERIALIZED VIEW mv ALTER COLUMN c SET STATISTICS 5;

ALTER TABLE parent ENABLE ROW LEVEL SECURITY;
ALTER TABLE child ENABLE ROW LEVEL SECURITY;
ALTER TABLE child FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON parent USING (c = CURRENT_USER) WITH CHECK (a > 0);
CREATE POLICY "Read Some" ON parent AS RESTRICTIVE FOR SELECT TO app_reader, "App Admin" USING (a IN (SELECT child.a FROM child));
CREATE POLICY ins ON child FOR INSERT TO app_writer WITH CHECK (b IS NOT NULL);
CREATE POLICY upd ON child FOR UPDATE USING (true);
CREATE POLICY del ON child FOR DELETE TO CURRENT_USER USING (false);
COMMENT ON POLICY own_rows ON parent IS 'one''s own';

ALTER TABLE parent OWNER TO app_owner;
ALTER VIEW v_simple OWNER TO "App Admin";
ALTER SEQUENCE q OWNER TO app_owner;
ALTER MATERIALIZED VIEW mv OWNER TO app_owner;
ALTER TYPE kinds.mood OWNER TO app_owner;
ALTER DOMAIN kinds.email OWNER TO app_owner;
GRANT SELECT, INSERT ON parent TO app_reader;
GRANT ALL ON child TO app_writer WITH GRANT OPTION;
GRANT SELECT (a, b), UPDATE (b), REFERENCES (a) ON keys TO app_reader;
GRANT SELECT (a) ON keys TO PUBLIC;
GRANT TRUNCATE, TRIGGER ON keys TO "App Admin";
GRANT SELECT ON v_simple, mv TO PUBLIC;
REVOKE ALL ON v_names FROM postgres;
GRANT USAGE ON SEQUENCE q TO app_reader;
GRANT ALL ON SEQUENCE plain_seq TO app_writer;
GRANT USAGE ON SCHEMA app TO app_reader, app_writer;
GRANT CREATE ON SCHEMA kinds TO app_writer WITH GRANT OPTION;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON TYPE kinds.mood TO app_reader;
REVOKE USAGE ON TYPE kinds.address FROM PUBLIC;
GRANT USAGE ON DOMAIN kinds.email TO "App Admin" WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA app GRANT SELECT ON TABLES TO app_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE app_owner IN SCHEMA app GRANT USAGE, SELECT ON SEQUENCES TO app_reader WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES FOR ROLE app_owner REVOKE USAGE ON TYPES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE app_owner GRANT USAGE ON SCHEMAS TO app_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE app_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SELECT format('GRANT CREATE, CONNECT ON DATABASE %I TO app_reader', current_database()) \gexec
SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('COMMENT ON DATABASE %I IS ''compared''', current_database()) \gexec
SELECT format('ALTER DATABASE %I SET work_mem = ''8MB''', current_database()) \gexec
SELECT format('ALTER ROLE app_reader IN DATABASE %I SET search_path = kinds', current_database()) \gexec
