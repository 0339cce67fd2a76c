#!/usr/bin/env bash
# Job and CronJob: a dump that was read back in full, with roles and digests, in a folder of its own.
set -Eeuo pipefail
# shellcheck disable=SC2154,SC2153
here=${BASH_SOURCE[0]%/*}
for part in words server job; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done

kind=${POINTSMAN_DUMP:-backup}
[[ $kind == backup || $kind == snapshot ]] || refuse CONFIG "a dump is a backup or a snapshot, not '$kind'"
retain=${POINTSMAN_RETAIN:-0}
folder='' part='' connected='' returning=''
# How often a last dump is made anew, where somebody writes meanwhile; and how long its Job may take, in seconds.
DUMPS=3
JOB_SECONDS=${POINTSMAN_JOB_SECONDS:-43200}

# What is not whole goes, whatever ended this.
discard() {
    [[ -z $part ]] || rm -rf "$part"
}
trap discard EXIT

# write FILE PROGRAM...: keeps the digest of what the program said, so that a volume that lost some of it is found
# out. Prints the digest.
write() {
    local file=$1
    shift
    { "$@" | tee "$file" | sha256sum | cut -c1-64; } 2>"$WORDS"
}

# The page cache would answer for the disk.
forget_cached() {
    dd if="$1" iflag=nocache count=0 status=none 2>/dev/null || true
}

# dump FILE PROGRAM...: refuses with the words of the program.
dump() {
    local file=$1 said locked=
    said=$(set +e; trap - ERR; write "$part/$file" "${@:2}" || echo failed)
    if [[ $said =~ ^[0-9a-f]{64}$ ]]; then
        sync "$part/$file" 2>/dev/null || sync
        forget_cached "$part/$file"
        [[ $(sha256sum <"$part/$file") == "$said"* ]] ||
            refuse DAMAGED "$file does not read back as it was written"
        digest=$said
        return
    fi
    ! grep -q 'statement timeout' "$WORDS" || locked=$(locked_tables 2>/dev/null) || true
    [[ -z $locked ]] || refuse FAILED "$file cannot be made: $locked; $(head -n 1 "$WORDS" | cut -c1-700)"
    refuse_in_words_of "$file cannot be made" "$WORDS"
}

all_roles() {
    "$BIN/pg_dumpall" --roles-only --no-password --database=postgres && sql postgres -f "$SCRIPTS/every-role.sql"
}

# What a client calls itself, which may be anything that people take for the operator's words.
NAMED="regexp_replace(application_name, '[^A-Za-z0-9_. -]', '?', 'g')"

# What others lock so that nobody reads it: from 16 on pg_dump asks for many tables at once, and its words name them all.
locked_tables() {
    sql "$POINTSMAN_DATABASE" -c "SELECT 'locked: ' || string_agg(format('%s by process %s (%s)', relation::regclass, pid, $NAMED), ', ')
        FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_class ON pg_class.oid = relation
        WHERE mode = 'AccessExclusiveLock' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND relkind IN ('r', 'p', 'S') AND relpersistence <> 't'"
}

# Roles and database, each read back.
copy() {
    dump roles.sql all_roles
    # Who waits longer for somebody's lock says nothing meanwhile; who gives up says what is locked.
    dump database.dump "$BIN/pg_dump" --format=custom --compress=1 --no-password --lock-wait-timeout="${POINTSMAN_LOCK_WAIT:-600s}"
    main=$digest
    dump list "$BIN/pg_restore" --list "$part/database.dump"
    attempt "the dump cannot be read back" "$BIN/pg_restore" -f /dev/null "$part/database.dump"
}

# What is written after a last dump goes with the volume: one counts where nobody has written since it began. Who asks a Service is
# led to nobody by now, and who is connected still is sent away: before, and after, since a session is counted when it ends.
copy_at_rest() {
    local try before after began=0
    refuse_prepared
    # Another one is begun where there is time for it.
    for ((try = 0; try < DUMPS && (try == 0 || SECONDS + SECONDS - began < JOB_SECONDS); try++)); do
        began=$SECONDS connected=
        send_away
        before=$(written)
        copy
        send_away
        after=$(written)
        refuse_prepared
        [[ $after != "$before" || -n $returning ]] || return 0
        say "somebody has written meanwhile"
    done
    refuse WRITTEN_TO "somebody wrote during each of $try dumps${connected:+; connected was $connected}"
}

# What is prepared is in no dump, and would go with the volume.
refuse_prepared() {
    local prepared
    prepared=$(sql_or_refuse "prepared transactions cannot be listed" postgres -c "SELECT string_agg(gid, ', ') FROM pg_prepared_xacts")
    [[ -z $prepared ]] || refuse WRITTEN_TO "transactions are prepared, and neither committed nor rolled back: $prepared"
}

# Until nobody comes back; who does so again and again is `returning`.
send_away() {
    local try
    for ((try = 0; try < 5; try++)); do
        returning=$(sql_or_refuse "the sessions of others cannot be ended" postgres -v replication="$REPLICATION_ROLE" -f "$SCRIPTS/others.sql")
        sleep 1
        [[ -n $returning ]] || return 0
        connected=$returning
    done
}

written() {
    sql_or_refuse "what was written cannot be counted" "$POINTSMAN_DATABASE" -f "$SCRIPTS/written.sql"
}

# Under the lock, since by their names dumps are told apart, and which one is the newest: also where a clock was wrong.
name_folder() {
    local now newest
    now=$(date -u +%Y%m%dT%H%M%SZ)
    newest=$(newest_dump)
    newest=${newest#*-}
    if [[ ! $now > $newest && $newest =~ ^(....)(..)(..)T(..)(..)(..)Z$ ]]; then
        printf -v newest '%s-%s-%s %s:%s:%s UTC' "${BASH_REMATCH[@]:1}"
        now=$(date -u -d "@$(($(date -u -d "$newest" +%s) + 1))" +%Y%m%dT%H%M%SZ)
    fi
    folder=$kind-$now
}

# Of backups alone: the oldest, where there are more than are to be kept.
prune() {
    local old
    [[ $kind == backup ]] && ((retain > 0)) || return 0
    while IFS= read -r old; do
        say "removes $old, since $retain are kept"
        mv "$BACKUPS/$old" "$BACKUPS/.part-$old"
        rm -rf "$BACKUPS/.part-$old"
    done < <(find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name 'backup-*' | sed 's|.*/||' | sort | head -n "-$retain")
}

exec 9>"$BACKUPS/.lock" || refuse FAILED "the backup volume cannot be written"
flock -w "${POINTSMAN_WAIT:-600}" 9 || refuse BUSY "another dump is still being written"
rm -rf "$BACKUPS"/.part-*
name_folder
part=$BACKUPS/.part-$folder
write_passfile "$SUPERUSER" superuser-password
# A replica's dump lacks the rows of unlogged tables, and says nothing.
wait_for_primary
# That there is nothing lets volumes go: an answer that did not come is none.
there=$(sql_or_refuse "the databases cannot be listed" postgres -v name="$POINTSMAN_DATABASE" -v reserved="$RESERVED" -f "$SCRIPTS/dump.sql")
case $there in
found) ;;
# Their data would go with the volume, and nothing would say so. A backup leaves them where they are.
found\ *)
    [[ $kind == backup ]] ||
        refuse OTHER_DATABASES "the last dump holds $POINTSMAN_DATABASE alone, and the server has other databases: ${there#found }"
    ;;
none) refuse NO_DATABASE "there is no database that was made or brought back whole" ;;
*) refuse FAILED "there is no database $POINTSMAN_DATABASE; $there" ;;
esac
mkdir "$part" 2>"$WORDS" || refuse FAILED "$(tail -n 1 "$WORDS")"
export PGDATABASE=$POINTSMAN_DATABASE
# Where fewer are to be kept than there are, that makes room for the new one.
prune
case $kind in
backup) copy ;;
snapshot) copy_at_rest ;;
esac
bytes=$(wc -c <"$part/database.dump")
version=$(sql postgres -c 'SHOW server_version_num')
systemid=$(sql postgres -c 'SELECT system_identifier FROM pg_control_system()')
describe() {
    printf 'kind=%s\ncreated=%s\nversion=%s\nsystemid=%s\nbytes=%s\nsha256=%s\n' \
        "$kind" "${folder#*-}" "$version" "$systemid" "$bytes" "$main" >"$part/about" &&
        printf 'database=%s\n' "$POINTSMAN_DATABASE" >>"$part/about" &&
        (cd "$part" && sha256sum about database.dump list roles.sql >SHA256SUMS)
}
describe 2>"$WORDS" || refuse NO_SPACE "the backup volume is full: $(tail -n 1 "$WORDS")"
sync "$part"/* "$part" 2>/dev/null || sync
mv "$part" "$BACKUPS/$folder"
part=
sync "$BACKUPS" 2>/dev/null || sync

prune
succeed "folder=$folder bytes=$bytes sha256=$main version=$version systemid=$systemid"
