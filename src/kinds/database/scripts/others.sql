-- Ends the sessions of others, and names whose they were. Those of the pod itself look after the server, and replicas only read.
WITH others AS MATERIALIZED (
    SELECT pid, usename, client_addr, application_name FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND client_addr IS NOT NULL AND usename IS DISTINCT FROM :'replication')
SELECT string_agg(concat_ws(' ', usename, 'at', host(client_addr), '(' || nullif(application_name, '') || ')'), ', ')
FROM others WHERE pg_terminate_backend(pid);
