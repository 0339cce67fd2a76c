-- Before a statement that holds a verifier: neither the log nor pg_stat_statements may keep it.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SET log_min_duration_statement = -1;
SET log_min_duration_sample = -1;
SET log_transaction_sample_rate = 0;
SET client_min_messages = 'warning';
SELECT format('SET %s = %L', name, CASE vartype WHEN 'enum' THEN 'none' ELSE '-1' END)
FROM pg_settings WHERE name IN ('pg_stat_statements.track', 'auto_explain.log_min_duration') \gexec
