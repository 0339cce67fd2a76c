-- In the application's database.
\ir silence.sql
\set extensions `printf %s "$POINTSMAN_EXTENSIONS"`
-- A missing one says so in PostgreSQL's own words.
SELECT format('CREATE EXTENSION IF NOT EXISTS %I CASCADE', name)
FROM regexp_split_to_table(:'extensions', E'\n') AS name WHERE name <> '' \gexec
