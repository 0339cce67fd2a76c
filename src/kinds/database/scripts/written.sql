-- Another text once anything was written to this database, its sequences or the roles. What the planner's statistics are made of, the
-- server writes by itself; it counts nothing where track_counts is off, and then it makes none either.
SET lock_timeout = '60s';
SELECT encode(sha256(convert_to(concat_ws(' ',
    (SELECT string_agg(concat_ws(' ', relid, n_tup_ins, n_tup_upd, n_tup_del), ',' ORDER BY relid) FROM pg_stat_all_tables
        WHERE schemaname <> 'pg_toast' AND relid NOT IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass)),
    (SELECT string_agg(concat_ws(' ', schemaname, sequencename, coalesce(last_value::text, '-')), ',' ORDER BY schemaname, sequencename)
        FROM pg_sequences),
    CASE WHEN NOT current_setting('track_counts')::bool THEN pg_snapshot_xmax(pg_current_snapshot())::text END), 'UTF8')), 'hex');
