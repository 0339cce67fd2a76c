# shellcheck shell=bash disable=SC2154
# Sourced: a volume whose server follows the primary, or waits for one.

settle_replica() {
    if [[ ! -e $PGDATA ]]; then
        clone
    elif was_led_by_another; then
        consent DIVERGED "this volume is of epoch $epoch under primary $marked_primary, and the topology names $primary for that epoch"
    elif was_refused; then
        consent "${refused[@]}"
    elif [[ -e $PGDATA/standby.signal ]]; then
        follow_again
    else
        follow_after_primacy
    fi
}

# A replica starts also where the primary is silent: it serves what it has.
follow_again() {
    local verdict try
    # shellcheck disable=SC2046
    for ((try = 0; try < ${POINTSMAN_PATIENCE:-10}; try++)); do
        verdict=$(judge $(reached) replica)
        [[ $verdict == unknown ]] || break
        pause 1
    done
    case $verdict in
    gone) clone ;;
    ahead) consent AHEAD "this replica has come to $(reached | tr ' ' ':') and the primary never went there" ;;
    *) write_marker replica "$(control 'Database system identifier')" ;;
    esac
}

# It was a primary. Where it ended cleanly before the switch point it follows as it is.
follow_after_primacy() {
    local verdict=unknown at
    if [[ $marked_role == cloning || $(control 'Database cluster state') != 'shut down' ]]; then
        consent DIVERGED "this volume was a primary and did not end cleanly"
        return
    fi
    at=$(control 'Latest checkpoint location')
    while [[ $verdict == unknown ]]; do
        verdict=$(judge "$(control "Latest checkpoint's TimeLineID")" "$at" primary)
        [[ $verdict != unknown ]] || wait_for_news
    done
    case $verdict in
    gone)
        # Nothing of it is missing from the primary, whatever comes of the clone.
        follows
        clone
        ;;
    ahead) consent DIVERGED "this volume was a primary until $at and holds writes that the primary of epoch $epoch lacks" ;;
    *) follows ;;
    esac
}

# From now on the volume is a replica's.
follows() {
    touch "$PGDATA/standby.signal"
    keep "$PGDATA/standby.signal"
    keep "$PGDATA"
    write_marker replica "$(control 'Database system identifier')"
}

# Was it found to hold what this primary lacks? Once that one has written as much itself, positions alone would tell otherwise.
# Fills `refused`: the word, and the sentence. A full volume takes a file without a word: then it was.
was_refused() {
    local lines=()
    [[ -f $REFUSED ]] || return 1
    mapfile -t lines <"$REFUSED"
    refused=("${lines[@]:1:2}")
    ((${#refused[@]} == 2)) || {
        refused=(DIVERGED "it was refused before, and its volume was too full to keep why")
        return 0
    }
    [[ ${lines[0]} == "$epoch ${primary:-${lines[0]#* }}" ]]
}

# consent WORD SENTENCE: data is given up only where a person said so for this epoch.
consent() {
    local allowed
    read_topic allowed "reclone-$me"
    if [[ $allowed != "$epoch" ]]; then
        write_whole "$REFUSED" "$epoch $primary"$'\n'"$1"$'\n'"$2"$'\n' || : >"$REFUSED"
        keep "$DATA"
        refuse "$1" "$2"
    fi
    say "$2; it is given up, as reclone-$me of epoch $epoch allows"
    clone
}

# The primary does not answer. Where the topology has changed meanwhile, all is decided anew.
wait_for_news() {
    local before="$primary $epoch"
    say "waits for the primary at $POINTSMAN_PRIMARY"
    pause 2
    read_topology
    if [[ "$primary $epoch" != "$before" ]]; then exec bash "$SCRIPTS/start.sh"; fi
}

# A clone that fails costs minutes of back-off, so it waits until the primary is there.
clone() {
    local found='' recovering=''
    while :; do
        read -r found _ _ recovering < <(identify "$POINTSMAN_PRIMARY" || true) || true
        [[ $recovering != off ]] || break
        wait_for_news
    done
    [[ $found == "${systemid:-$found}" ]] ||
        refuse FOREIGN_DATA "the primary at $POINTSMAN_PRIMARY has system identifier $found and the topology says $systemid"
    make_room
    write_marker cloning "$found"
    say "clones the primary"
    PGREQUIREAUTH=$PROOF PGOPTIONS=$OWN_SESSION attempt pg_basebackup "$BIN/pg_basebackup" -D "$NEW" -d "$(connection "$POINTSMAN_PRIMARY")" -X stream -c fast \
        --no-password
    touch "$NEW/standby.signal"
    keep "$NEW/standby.signal"
    keep "$NEW"
    if [[ -e $PGDATA ]]; then mv "$PGDATA" "$OLD"; fi
    mv "$NEW" "$PGDATA"
    keep "$DATA"
    write_marker replica "$found"
    rm -rf "$OLD"
}

# Old files stay until the new ones are complete, where the volume has room for both.
make_room() {
    local used free
    [[ -e $PGDATA ]] || return 0
    used=$(du -sk "$PGDATA" | cut -f1)
    free=$(df -Pk "$DATA" | awk 'NR == 2 { print $4 }')
    if ((free < used + used / 8)); then
        say "removes the old files first: $used KiB, and $free KiB are free"
        mv "$PGDATA" "$GONE"
        keep "$DATA"
        rm -rf "$GONE"
    fi
}
