-- Values come from the environment and from files into psql's variables, and from there only through %I and %L.
\ir silence.sql
\set role `printf %s "$POINTSMAN_ROLE"`
\set database `printf %s "$POINTSMAN_DATABASE"`
\set verifier `cat /pointsman/internal/app-verifier`
-- What a restore left unfinished let nobody in. It goes with the record of it: neither is it made into the application's
-- database, nor does a later restore take that for its own.
SELECT to_regclass('pointsman.restore') IS NOT NULL AS restoring \gset
\if :restoring
\ir unfinished.sql
DELETE FROM pointsman.restore WHERE NOT finished;
\endif
SELECT format('CREATE ROLE %I LOGIN', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', :'role', :'verifier') \gexec
-- Closed until its rights are as they should be: a database cannot be made in a transaction.
SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE template0 ENCODING %L ALLOW_CONNECTIONS false', :'database', :'role', 'UTF8')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
SELECT unnest(ARRAY[
    format('REVOKE ALL ON DATABASE %I FROM PUBLIC', :'database'),
    format('GRANT ALL ON DATABASE %I TO %I', :'database', :'role'),
    format('ALTER DATABASE %I ALLOW_CONNECTIONS true', :'database')])
FROM pg_database WHERE datname = :'database' AND NOT datallowconn \gexec
