-- The wanted name, who may log in, and the record of it: all or nothing.
BEGIN;
SELECT format('ALTER DATABASE %I RENAME TO %I', :'source', :'target') WHERE :'source' <> :'target' \gexec
\i :logins
UPDATE pointsman.restore SET finished = true WHERE source = :'source' AND target = :'target';
COMMIT;
