-- The roles that schema.sql grants privileges to. They belong to the server, not to a database.
SELECT count(*) = 0 AS absent FROM pg_roles WHERE rolname = 'app_owner' \gset
\if :absent
CREATE ROLE app_owner NOLOGIN CREATEDB;
CREATE ROLE app_reader LOGIN CONNECTION LIMIT 5 VALID UNTIL '2040-01-01 00:00:00+00';
CREATE ROLE app_writer LOGIN NOINHERIT IN ROLE app_reader;
CREATE ROLE "App Admin" CREATEROLE BYPASSRLS;
GRANT app_owner TO "App Admin" WITH ADMIN OPTION;
COMMENT ON ROLE app_owner IS 'owns what the app has';
ALTER ROLE app_reader SET search_path = app, public;
ALTER ROLE app_reader SET statement_timeout = '5s';
\endif
