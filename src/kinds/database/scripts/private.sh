# shellcheck shell=bash disable=SC2034,SC2154
# Sourced: the server's command line, and a server that only this pod can reach.

# Settings that a replica may not have lower than the primary had, and what pg_controldata calls them.
FLOORS=(
    'max_connections=max_connections setting'
    'max_worker_processes=max_worker_processes setting'
    'max_wal_senders=max_wal_senders setting'
    'max_prepared_transactions=max_prepared_xacts setting'
    'max_locks_per_transaction=max_locks_per_xact setting'
)

# The same of the server's own receiver, where libpq knows the word: another one takes no connection string that has it.
proof_asked() {
    local said
    said=$("$BIN/psql" -X -d "host=$RUN/nobody require_auth=$PROOF" -c '' 2>&1) || true
    [[ $said == *'connection option'* ]] || printf 'require_auth=%s' "$PROOF"
}

# What the operator owns goes on the command line, which no ALTER SYSTEM can beat. Fills `arguments`.
server_arguments() {
    local floor name ours theirs
    arguments=(-D "$PGDATA" -c "config_file=$CONFIG/postgresql.conf" -c "port=$PORT"
        -c "unix_socket_directories=$RUN" -c "hba_file=$CONFIG/pg_hba.conf" -c "cluster_name=$POINTSMAN_POD"
        -c "primary_conninfo=$(connection "$POINTSMAN_PRIMARY" "tcp_user_timeout=5000 $(proof_asked)")" -c primary_slot_name= -c restore_command=
        -c recovery_target_timeline=latest -c recovery_target= -c wal_level=replica
        -c logging_collector=off -c log_destination=stderr -c lc_messages=C -c wal_retrieve_retry_interval=1s)
    if (($(<"$PGDATA/PG_VERSION") >= 17)); then arguments+=(-c allow_alter_system=off); fi
    # It means nothing to a primary, but that one which recovers says otherwise than a replica that it lets nobody in.
    if [[ ! -e $PGDATA/standby.signal ]]; then
        arguments+=(-c hot_standby=off)
        return
    fi
    arguments+=(-c hot_standby=on)
    for floor in "${FLOORS[@]}"; do
        name=${floor%%=*}
        theirs=$(control "${floor#*=}")
        ours=$("$BIN/postgres" "${arguments[@]}" -C "$name" 2>"$WORDS") ||
            refuse CONFIG "$(tail -n 3 "$WORDS")"
        if ((ours < theirs)); then arguments+=(-c "$name=$theirs"); fi
    done
}

# Nobody can connect but this script: no network, and a socket where the readiness probe does not look.
start_privately() {
    SOCKET=$RUN/private
    mkdir -p "$SOCKET"
    server_arguments
    printf 'local all %s peer\n' "$SUPERUSER" >"$RUN/private_hba.conf"
    arguments+=(-c listen_addresses= -c "unix_socket_directories=$SOCKET" -c "hba_file=$RUN/private_hba.conf" -c primary_conninfo=)
    "$BIN/postgres" "${arguments[@]}" >"$RUN/private.log" 2>&1 &
    child=$!
    until "$BIN/pg_isready" -q -h "$SOCKET" -p "$PORT"; do
        kill -0 "$child" 2>/dev/null || private_failure "the server does not start"
        pause 0.1
    done
}

# private_failure WHAT: in the words of the server.
private_failure() {
    cat "$RUN/private.log" >&2
    refuse_in_words_of "$1" "$RUN/private.log"
}

stop_privately() {
    kill -INT "$child"
    wait "$child" || private_failure "the server does not stop"
    child=
    SOCKET=$RUN
    [[ $(control 'Database cluster state') == 'shut down' ]] || private_failure "the server does not stop as it should"
}

# A sleep that a signal interrupts.
pause() {
    sleep "$1" &
    wait $! || true
}

# Fills `made_from`: digests of what the operator's own roles are made from. With other passwords in the Secret they are made anew.
digest_sources() {
    local digests digest
    made_from=
    digests=$(sha256sum "$SECRETS/superuser-verifier" "$SECRETS/replication-verifier" "$SCRIPTS/roles.sql" 2>"$WORDS") || return
    while read -r digest _; do made_from+=$digest; done <<<"$digests"
}

# The digest of what they are in the server: whoever changes one is found out by it.
ROLES_IN_SERVER="SELECT encode(sha256(convert_to(string_agg(concat_ws(' ', rolname, rolsuper, rolreplication, rolcanlogin,
    rolconnlimit, rolvaliduntil, rolpassword, pg_has_role(oid, 'pg_monitor', 'member')), ', ' ORDER BY rolname), 'UTF8')), 'hex')
    FROM pg_authid WHERE rolname IN ('$SUPERUSER', '$REPLICATION_ROLE')"

# Do these words say that the operator's own superuser may not log in, or is none any more?
is_shut_out() {
    grep -qE 'not permitted to log in|permission denied for' "$1"
}

# The file `roles`: what they were made from, and what they were then (`kept_roles`).
roles_are_current() {
    local source
    [[ -f $DATA/roles ]] && read -r source kept_roles <"$DATA/roles" && digest_sources && [[ $source == "$made_from" ]]
}

write_roles() {
    local made
    digest_sources || return
    ask_here -v role="$REPLICATION_ROLE" -f "$SCRIPTS/roles.sql" >/dev/null 2>"$WORDS" || return
    made=$(ask_here -c "$ROLES_IN_SERVER" 2>"$WORDS") || return
    { echo "$made_from $made" >"$DATA/roles.new" && mv "$DATA/roles.new" "$DATA/roles"; } 2>"$WORDS"
}

make_roles() {
    write_roles || refuse_in_words_of "the roles cannot be made" "$WORDS"
}
