-- The wanted name and the record of it, both or neither.
BEGIN;
SELECT format('ALTER DATABASE %I RENAME TO %I', :'source', :'target') WHERE :'source' <> :'target' \gexec
UPDATE pointsman.restore SET finished = true WHERE source = :'source' AND target = :'target';
COMMIT;
