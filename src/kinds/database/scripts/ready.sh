#!/usr/bin/env bash
# shellcheck disable=SC2154,SC2153
# The readiness probe: exits 0 where clients may come.
set -euo pipefail
here=${BASH_SOURCE[0]%/*}
# What ended the container is not this one's to say.
export POINTSMAN_TERMINATION_LOG=/dev/null
for part in words server volume private; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done
trap - ERR TERM INT
export PGPASSFILE=$PASSFILE PGCONNECT_TIMEOUT=3 PGOPTIONS='-c statement_timeout=3s'
# A replica further behind than this shows too old rows. Bytes, since time grows while nobody writes.
BEHIND=$((16 << 20))

not_ready() {
    echo "$*"
    exit 1
}

# ends WORDS...: the server, whose next start does what only a start can.
ends() {
    kill -INT 1
    not_ready "$*"
}

# Fills `mounted`: which settings are mounted.
read_mounted() {
    local line=$'\n' text=''
    mounted=
    IFS= read -r -d '' text 2>/dev/null <"$SETTINGS/reloaded.conf" || true
    [[ ! $line$text =~ $line"pointsman.generation = '"([^\']*)"'"$line ]] || mounted=${BASH_REMATCH[1]}
}

# Settings that are mounted and not read yet are read now.
reload_settings() {
    read_mounted
    [[ -z $mounted || $mounted == "$1" ]] || ask_here -c 'SELECT pg_reload_conf()' >/dev/null || true
}

# A server that runs and lets no session in may have read settings that keep it from that: it cannot be asked to read what
# mends them, so it is told by a signal, once of each text. Of one that starts, or stops, nobody knows whether it listens.
tell_of_settings() {
    read_mounted
    [[ -n $mounted && $mounted != "$(cat "$RUN/told" 2>/dev/null || true)" ]] || return 0
    ! answers "$SOCKET" || { kill -HUP 1 && echo "$mounted" >"$RUN/told"; }
}

# keep_roles FOUND: whoever changed or dropped the operator's own roles, no Job and no replica would get in.
keep_roles() {
    [[ -n $kept_roles ]] || return 0
    [[ -n $1 ]] || start_anew_when_shut_out
    [[ -z $1 || $1 == "$kept_roles" ]] || write_roles || true
}

# Nobody lets in again the one who lets in all others: only a start can, where nobody logs in.
start_anew_when_shut_out() {
    [[ $primary == "$me" ]] && is_shut_out "$RUN/asked" || return 0
    rm -f "$DATA/roles"
    ends "its own superuser may not log in, or is none: it starts anew"
}

# Where following is over for good the container is ended: its next start clones, or says why it may not.
# give_up_when_lost TIMELINE POSITION NEEDED: the first two as they were written together. The timeline of what is
# replayed just now is not to be had, and a position on another one than its own would look like a lead.
give_up_when_lost() {
    local verdict
    verdict=$(judge "$1" "$2" replica "$3")
    case $verdict in
    gone | ahead) ends "cannot follow any more ($verdict)" ;;
    esac
}

# Where another one is the primary of a later epoch, no write to this one counts: it ends, and its next start follows, or says why
# it may not. One that only reads that nobody is named is ended by whoever moves the primary.
give_up_when_followed() {
    [[ -n $primary && $primary != "$me" ]] && ((epoch > marked_epoch)) || return 0
    ends "was the primary of epoch $marked_epoch, and the topology names '$primary' at epoch $epoch: it ends"
}

# What its volume knows better than the topology, its next start says.
give_up_when_told_less() {
    ((marked_epoch > epoch)) || was_led_by_another || return 0
    ends "its volume is of epoch $marked_epoch under primary $marked_primary, and the topology names '$primary' at epoch $epoch: it ends"
}

# A claim that was made anew while its pod cloned is learnt of later: who follows is on the right volume.
mark_claim() {
    [[ $marked_role == replica && $marked_epoch == "$epoch" && $marked_claim != "$claim" ]] || return 0
    write_marker replica "$marked_systemid"
}

read_topology
# In one session, since a session costs more than what it asks.
questions=(-c "SELECT pg_is_in_recovery(), extract(epoch FROM pg_postmaster_start_time()), current_setting('pointsman.generation', true),
    CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END,
    coalesce((SELECT status = 'streaming' AND latest_end_lsn - pg_last_wal_replay_lsn() <= $BEHIND FROM pg_stat_wal_receiver), false),
    (SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'),
    CASE WHEN pg_is_in_recovery() THEN (SELECT min_recovery_end_timeline || '|' || min_recovery_end_lsn FROM pg_control_recovery()) ELSE '|' END,
    coalesce(pg_last_wal_replay_lsn(), '0/0')")
# A replica's roles are its primary's to keep, and what another Secret says counts from the next start.
if [[ $primary == "$me" ]] && roles_are_current; then questions+=(-c "$ROLES_IN_SERVER"); else kept_roles=; fi
said=$(ask_here "${questions[@]}" 2>"$RUN/asked") || [[ -n $said ]] || {
    start_anew_when_shut_out
    tell_of_settings
    not_ready "does not answer: $(<"$RUN/asked")"
}
{ IFS='|' read -r recovering started read paused near streaming timeline least at && read -r roles || true; } <<<"$said"
reload_settings "$read"
read_marker
give_up_when_told_less
if [[ $recovering == f ]]; then
    give_up_when_followed
    [[ $primary == "$me" ]] || not_ready "is a primary and the topology names '$primary'"
    keep_roles "$roles"
    exit 0
fi
if [[ $primary == "$me" ]]; then
    # It began before it could read that it is the primary, and only a start makes one.
    ends "is a replica and the topology names it as the primary"
fi
[[ $paused == f ]] || not_ready "has paused"
if [[ $near == t ]]; then
    mark_claim
    echo "$started" >"$RUN/caught-up"
    exit 0
fi
[[ $streaming == 1 ]] && not_ready "is more than $BEHIND bytes behind"
# The passwords may be new ones.
if [[ -s $SECRETS/replication-password ]]; then write_passfile "$REPLICATION_ROLE" replication-password; fi
if answers "$POINTSMAN_PRIMARY"; then
    ((timeline == 0)) || give_up_when_lost "$timeline" "$least" "$at"
    not_ready "does not stream"
fi
# The primary is away: rows as of then beat none, once it had caught up.
[[ -f $RUN/caught-up && $(<"$RUN/caught-up") == "$started" ]] || not_ready "has not caught up yet"
