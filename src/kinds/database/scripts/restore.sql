-- Says begin, done, taken, or which other dump was brought back. What an earlier attempt left unfinished goes.
SET client_min_messages = 'warning';
CREATE SCHEMA IF NOT EXISTS pointsman;
CREATE TABLE IF NOT EXISTS pointsman.restore (source text, target text, folder text, finished boolean NOT NULL);
\ir unfinished.sql
SELECT coalesce(
    (SELECT CASE WHEN target = :'target' AND folder = :'folder' THEN 'done' ELSE format('%s, as %s', split_part(folder, ' ', 1), target) END
        FROM pointsman.restore, pg_database WHERE finished AND datname = target ORDER BY target = :'target' DESC LIMIT 1),
    (SELECT 'taken' FROM pg_database WHERE datname IN (:'source', :'target') LIMIT 1),
    'begin') AS state \gset
DELETE FROM pointsman.restore WHERE :'state' = 'begin';
INSERT INTO pointsman.restore SELECT :'source', :'target', :'folder', false WHERE :'state' = 'begin';
SELECT :'state';
