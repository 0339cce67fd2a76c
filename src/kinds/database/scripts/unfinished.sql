-- Drops what a restore left unfinished: it let nobody in.
SELECT format('ALTER DATABASE %I IS_TEMPLATE false', source)
FROM pointsman.restore JOIN pg_database ON datname = source WHERE NOT finished AND datistemplate \gexec
SELECT format('DROP DATABASE IF EXISTS %I WITH (FORCE)', source) FROM pointsman.restore WHERE NOT finished \gexec
