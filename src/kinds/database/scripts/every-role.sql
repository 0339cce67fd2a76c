-- What is set for every role in every database, which pg_dumpall leaves out. A list of names is kept in PostgreSQL's own quotes.
SELECT format('ALTER ROLE ALL SET %I TO %s;', name, CASE
    WHEN name IN ('local_preload_libraries', 'search_path', 'session_preload_libraries', 'temp_tablespaces') THEN coalesce(
        (SELECT string_agg(quote_literal(coalesce(replace(part[1], '""', '"'), part[2])), ', ')
            FROM regexp_matches(value, '"((?:[^"]|"")*)"|([^", ]+)', 'g') part),
        quote_literal(''))
    ELSE quote_literal(value) END)
FROM pg_db_role_setting
CROSS JOIN LATERAL unnest(setconfig) setting
CROSS JOIN LATERAL (SELECT split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)) pair(name, value)
WHERE setdatabase = 0 AND setrole = 0;
