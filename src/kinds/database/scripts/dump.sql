-- Says found, with the names of the others behind it, none, or which others there are. A database that a restore left
-- unfinished let nobody in, and counts as none: its dump would pass for a whole one.
\set unfinished {}
SELECT to_regclass('pointsman.restore') IS NOT NULL AS restoring \gset
\if :restoring
SELECT coalesce(array_agg(source), '{}') AS unfinished FROM pointsman.restore WHERE NOT finished \gset
\endif
WITH names AS (
    SELECT datname::text AS name FROM pg_database
    WHERE strpos(:'reserved', ' ' || datname || ' ') = 0 AND datname::text <> ALL (:'unfinished'::text[])
    -- What a user has put there by mistake, since psql goes there by itself.
    UNION ALL SELECT 'postgres' WHERE EXISTS (SELECT FROM pg_largeobject_metadata) OR EXISTS (
        SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'm') AND pg_class.oid >= 16384 AND nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'pointsman')
            AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')))
SELECT CASE WHEN EXISTS (SELECT FROM names WHERE name = :'name')
        THEN concat_ws(' ', 'found', (SELECT string_agg(name, ', ' ORDER BY name) FROM names WHERE name <> :'name'))
    WHEN NOT EXISTS (SELECT FROM names) THEN 'none'
    ELSE 'others: ' || (SELECT string_agg(name, ', ' ORDER BY name) FROM names) END;
