#!/usr/bin/env bash
# shellcheck disable=SC2154,SC2153
# Process 1 of a server's pod: finds out whether this volume may be served, and as what, prepares it, and runs the
# server. README.md has the table.
set -Eeuo pipefail
here=${BASH_SOURCE[0]%/*}
for part in words server volume private primary replica; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done

settle() {
    read_topology
    read_marker
    check_volume
    if [[ $primary == "$me" ]]; then
        settle_primary
    elif [[ -z $primary && -e $PGDATA && ! -e $PGDATA/standby.signal ]]; then
        [[ $(control 'Database cluster state') == 'shut down' ]] ||
            refuse UNCLEAN "no primary is named at epoch $epoch; this server was it, and did not end cleanly"
        refuse FENCED "no primary is named at epoch $epoch; this server was it, and waits; complete=$(complete)"
    else
        settle_replica
    fi
}

# Runs the server as a child. What an exec leaves behind (a probe that took too long, a terminal that was closed) becomes a
# child of process 1, and a server takes each child that it does not know for one of its sessions: where one ends by a
# signal, or with another code than 0 and 1, it ends all of them. Bash only forgets it.
serve() {
    # Whatever signal the image stops with: one that waits for clients would wait for ever.
    trap 'pass_on INT' INT TERM QUIT
    trap 'pass_on HUP' HUP
    "$BIN/postgres" "${arguments[@]}" -c "listen_addresses=${POINTSMAN_LISTEN:-*}" &
    child=$!
    # A signal ends the waiting, and not the server. One that came before the server listened to any is passed on again.
    while kill -0 "$child" 2>/dev/null; do
        if [[ -n $passed && ! -e $RUN/.s.PGSQL.$PORT ]]; then
            sleep 0.2
            kill -"$passed" "$child" 2>/dev/null || true
        else
            wait "$child" || true
        fi
    done
    wait "$child" || exit "$?"
}

passed=
pass_on() {
    passed=$1
    [[ -z $child ]] || kill -"$1" "$child" 2>/dev/null || true
}

mkdir -p "$RUN"
lock_volume
tidy_volume
write_passfile "$REPLICATION_ROLE" replication-password
read_topology
settle
server_arguments
say "starts as $marked_role at epoch $epoch"
# Words kept so far were of attempts.
: >"$TERMINATION_LOG"
serve
