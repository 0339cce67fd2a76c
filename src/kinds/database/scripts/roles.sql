-- The operator's own roles, by verifiers: no password comes near the server. Run as often as wanted.
\ir silence.sql
\set superuser `cat /pointsman/internal/superuser-verifier`
\set replication `cat /pointsman/internal/replication-verifier`
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
SELECT format('ALTER ROLE %I NOSUPERUSER LOGIN REPLICATION CONNECTION LIMIT -1 VALID UNTIL ''infinity'' PASSWORD %L', :'role', :'replication') \gexec
SELECT format('GRANT pg_monitor TO %I', :'role') \gexec
SELECT format('ALTER ROLE CURRENT_USER CONNECTION LIMIT -1 VALID UNTIL ''infinity'' PASSWORD %L', :'superuser') \gexec
