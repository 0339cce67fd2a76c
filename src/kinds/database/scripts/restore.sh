#!/usr/bin/env bash
# Job: brings the database of a dump back into a server that has none. A later attempt begins anew.
set -Eeuo pipefail
# shellcheck disable=SC2154,SC2153
here=${BASH_SOURCE[0]%/*}
for part in words server job; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done

choose_folder() {
    local found
    if [[ -n ${POINTSMAN_FOLDER:-} ]]; then
        [[ $POINTSMAN_FOLDER =~ ^(backup|snapshot)-[0-9TZ]+$ ]] || refuse NO_BACKUP "$POINTSMAN_FOLDER is no dump's name"
        folder=$BACKUPS/$POINTSMAN_FOLDER
        [[ -d $folder ]] || refuse NO_BACKUP "the volume has no $POINTSMAN_FOLDER"
        return
    fi
    found=$(newest_dump)
    [[ -n $found ]] || refuse NO_BACKUP "the volume has no dump"
    folder=$BACKUPS/$found
}

check_folder() {
    [[ $(awk '{ print $2 }' "$folder/SHA256SUMS" 2>/dev/null | sort | xargs) == 'about database.dump list roles.sql' ]] ||
        refuse DAMAGED "${folder##*/} has no complete list of digests"
    (cd "$folder" && sha256sum --check --status SHA256SUMS) || refuse DAMAGED "${folder##*/} is not what was written"
}

about() {
    sed -n "s/^$1=//p" "$folder/about"
}

# The state of a restore stands in the database postgres, so that a half one is known for ours.
remember() {
    sql_or_refuse "the restore cannot be recorded" postgres -v source="$source" -v target="$POINTSMAN_DATABASE" \
        -v folder="${folder##*/} $(about sha256)" -f "$SCRIPTS/restore.sql"
}

# Whoever could log in before is let in once all is whole: what is written into a half restored database would be lost.
load_roles() {
    local existing
    : >"$RUN/logins.sql"
    existing=$(sql postgres -c 'SELECT quote_ident(rolname) FROM pg_roles')
    rm -f "$RUN/strange"
    POINTSMAN_LOGINS=$RUN/logins.sql POINTSMAN_STRANGE=$RUN/strange POINTSMAN_EXISTING=$existing POINTSMAN_OWN="$SUPERUSER
$REPLICATION_ROLE" awk -f "$SCRIPTS/roles.awk" "$folder/roles.sql" >"$RUN/roles.sql"
    [[ ! -e $RUN/strange ]] || refuse DAMAGED "roles.sql of ${folder##*/} holds what no pg_dumpall writes of roles: $(head -n 1 "$RUN/strange")"
    {
        cat "$SCRIPTS/silence.sql"
        # Where psql knows it, nothing that follows is obeyed as a command of its own.
        if "$BIN/psql" --help=commands | grep -q '^ *\\restrict '; then printf '\\restrict %s\n' "${RANDOM}${RANDOM}${RANDOM}"; fi
        cat "$RUN/roles.sql"
    } >"$RUN/all-roles.sql"
    sql postgres -f "$RUN/all-roles.sql" >/dev/null 2>"$WORDS" ||
        refuse FAILED "the roles: $(grep -o 'ERROR:.*' "$WORDS" | tail -n 3)"
    rm -f "$RUN/roles.sql" "$RUN/all-roles.sql"
}

# restore_section SECTION DATABASE [OPTION]...: all rows are there before anything acts on them. In one run with more than one
# job, what a partitioned table has, its triggers too, does not wait for the rows of its partitions. An empty --dbname is PGDATABASE.
restore_section() {
    PGDATABASE=$2 attempt "the dump cannot be restored" "$BIN/pg_restore" --section="$1" "${@:3}" --exit-on-error --jobs=2 \
        --no-password --dbname= "$folder/database.dump"
}

# What acts on a restore itself, or keeps a half one from being dropped, comes last: event triggers would see materialized views
# being filled.
split_post_data() {
    local late='^[0-9]+; [0-9]+ [0-9]+ ((COMMENT|SECURITY LABEL) - )?(EVENT TRIGGER|SUBSCRIPTION) '
    "$BIN/pg_restore" --list --section=post-data "$folder/database.dump" >"$RUN/post-data" 2>"$WORDS" ||
        refuse_in_words_of "the dump cannot be listed" "$WORDS"
    grep -vE "$late" "$RUN/post-data" >"$RUN/early" || true
    grep -E "$late" "$RUN/post-data" >"$RUN/late" || true
}

choose_folder
check_folder
source=$(about database)
check_database_name "$POINTSMAN_DATABASE"
check_database_name "$source"
write_passfile "$SUPERUSER" superuser-password
wait_for_primary
state=$(remember | tail -n 1)
case $state in
done) say "was restored before" ;;
taken) refuse DATABASE_EXISTS "the server has a database $source or $POINTSMAN_DATABASE that no restore began" ;;
begin)
    load_roles
    restore_section pre-data postgres --create
    restore_section data "$source"
    split_post_data
    restore_section post-data "$source" --use-list="$RUN/early"
    # No statistics came along.
    sql_or_refuse "the statistics" "$source" -c ANALYZE
    restore_section post-data "$source" --use-list="$RUN/late"
    sql_or_refuse "the name" postgres -v source="$source" -v target="$POINTSMAN_DATABASE" \
        -v logins="$RUN/logins.sql" -f "$SCRIPTS/restored.sql"
    ;;
backup-* | snapshot-*) refuse RESTORED \
    "the server holds what was brought back before ($state), and it may be in use: ask for that again, or delete this object and create it anew" ;;
*) refuse FAILED "the restore is in no known state: $state" ;;
esac
succeed "folder=${folder##*/} bytes=$(about bytes) sha256=$(about sha256) version=$(about version) systemid=$(about systemid)"
