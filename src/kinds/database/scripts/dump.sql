-- Says found, with the names of the others behind it, none, or which others there are. A database that a restore left
-- unfinished let nobody in, and counts as none: its dump would pass for a whole one.
\set unfinished {}
SELECT to_regclass('pointsman.restore') IS NOT NULL AS restoring \gset
\if :restoring
SELECT coalesce(array_agg(source), '{}') AS unfinished FROM pointsman.restore WHERE NOT finished \gset
\endif
WITH names AS (
    SELECT datname::text AS name FROM pg_database
    WHERE strpos(:'reserved', ' ' || datname || ' ') = 0 AND datname::text <> ALL (:'unfinished'::text[]))
SELECT CASE WHEN EXISTS (SELECT FROM names WHERE name = :'name')
        THEN concat_ws(' ', 'found', (SELECT string_agg(name, ', ' ORDER BY name) FROM names WHERE name <> :'name'))
    WHEN NOT EXISTS (SELECT FROM names) THEN 'none'
    ELSE 'others: ' || (SELECT string_agg(name, ', ' ORDER BY name) FROM names) END;
