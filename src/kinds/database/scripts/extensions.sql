-- In the application's database.
\ir silence.sql
\set extensions `printf %s "$POINTSMAN_EXTENSIONS"`
-- A missing one says so in PostgreSQL's own words. Names are looked up in PostgreSQL's own schema but while one is made,
-- since the owner of this database may have made functions of any name.
SELECT unnest(ARRAY['SET search_path = public', format('CREATE EXTENSION IF NOT EXISTS %I CASCADE', name)])
FROM regexp_split_to_table(:'extensions', E'\n') AS name WHERE name <> '' \gexec
