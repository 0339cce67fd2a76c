-- Says begin, done or taken. What an earlier attempt left unfinished goes.
SET client_min_messages = 'warning';
CREATE SCHEMA IF NOT EXISTS pointsman;
CREATE TABLE IF NOT EXISTS pointsman.restore (source text, target text, folder text, finished boolean NOT NULL);
SELECT format('DROP DATABASE IF EXISTS %I WITH (FORCE)', source) FROM pointsman.restore WHERE NOT finished \gexec
SELECT CASE
    WHEN EXISTS (SELECT FROM pointsman.restore, pg_database WHERE finished AND target = :'target' AND datname = :'target') THEN 'done'
    WHEN EXISTS (SELECT FROM pg_database WHERE datname IN (:'source', :'target')) THEN 'taken'
    ELSE 'begin' END AS state \gset
DELETE FROM pointsman.restore WHERE :'state' = 'begin';
INSERT INTO pointsman.restore SELECT :'source', :'target', :'folder', false WHERE :'state' = 'begin';
SELECT :'state';
