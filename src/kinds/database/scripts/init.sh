#!/usr/bin/env bash
# Job: the application's role, its database and the extensions. Run as often as wanted.
set -Eeuo pipefail
# shellcheck disable=SC2154,SC2153
here=${BASH_SOURCE[0]%/*}
for part in words server job; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done

export POINTSMAN_ROLE=${POINTSMAN_ROLE:-app} POINTSMAN_EXTENSIONS=${POINTSMAN_EXTENSIONS:-}
check_database_name "$POINTSMAN_DATABASE"
while IFS= read -r name; do
    (($(printf '%s' "$name" | wc -c) <= 63)) || refuse NAME "the extension's name $name has more than 63 bytes"
done <<<"$POINTSMAN_EXTENSIONS"
write_passfile "$SUPERUSER" superuser-password
wait_for_primary
sql_or_refuse "the database cannot be made" postgres -f "$SCRIPTS/init.sql" >/dev/null
sql_or_refuse "an extension cannot be made" "$POINTSMAN_DATABASE" -f "$SCRIPTS/extensions.sql" >/dev/null
answer=$(sql_or_refuse "the server does not say who it is" postgres -c "SELECT 'systemid=' || system_identifier ||
    ' version=' || current_setting('server_version_num') FROM pg_control_system()")
succeed "$answer"
