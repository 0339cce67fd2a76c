#!/usr/bin/env bash
# Job: what each server says of itself, over the network: which configuration it has read, its role, how far it is.
set -Eeuo pipefail
# shellcheck disable=SC2154,SC2153
here=${BASH_SOURCE[0]%/*}
for part in words server job; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done
export PGCONNECT_TIMEOUT=5
write_passfile "$SUPERUSER" superuser-password
# ask: one line of what all say; false while one of them has not read what it is to have read.
ask() {
    local peer said
    line='' all_read=true
    for peer in $POINTSMAN_PEERS; do
        said=$(PGHOST=${peer#*=} sql postgres -c "SELECT concat_ws(',', coalesce(current_setting('pointsman.generation', true), ''),
            CASE WHEN pg_is_in_recovery() THEN 'replica' ELSE 'primary' END, current_setting('server_version_num'),
            CASE WHEN pg_is_in_recovery() THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                ELSE pg_current_wal_lsn() END,
            (SELECT count(*) FROM pg_settings WHERE pending_restart),
            (SELECT system_identifier FROM pg_control_system()))" 2>"$WORDS") || said=silent
        line+=" ${peer%%=*}=$said"
        [[ -z ${POINTSMAN_GENERATION:-} || ${said%%,*} == "$POINTSMAN_GENERATION" ]] || all_read=false
    done
    [[ $all_read == true ]]
}

# What is mounted changes some time after its ConfigMap: a minute or two.
for ((try = 0; try < ${POINTSMAN_PATIENCE:-30}; try++)); do
    ! ask || break
    [[ -n ${POINTSMAN_GENERATION:-} ]] || break
    sleep 5 &
    wait $! || true
done
[[ -z ${POINTSMAN_GENERATION:-} || $all_read == true ]] || refuse NO_ANSWER "not every server has read its settings:$line"
succeed "${line# }"
