# shellcheck shell=bash disable=SC2154
# Sourced: a volume whose server the topology names as the primary.

settle_primary() {
    if [[ ! -e $PGDATA ]]; then
        [[ -z $systemid && $epoch == 1 ]] ||
            refuse PRIMARY_VOLUME_EMPTY "the database exists (system identifier '$systemid', epoch $epoch) and this volume is empty"
        no_other_primary
        create_cluster
    elif [[ -e $PGDATA/standby.signal ]]; then
        ((marked_epoch < epoch)) ||
            refuse CONTRADICTION "a replica of epoch $epoch is named primary of the same epoch"
        no_other_primary
        promote
    else
        case $marked_role in
        primary) ((marked_epoch == epoch)) ||
            refuse CONTRADICTION "a primary of epoch $marked_epoch is named primary of epoch $epoch; who was it in between?" ;;
        # Killed between the promotion and the marker.
        replica) ((marked_epoch < epoch)) ||
            refuse CONTRADICTION "a primary is marked as a replica of its own epoch $epoch" ;;
        *) refuse CONTRADICTION "a volume that was being cloned is named primary" ;;
        esac
        no_other_primary
        [[ $marked_role == primary ]] || write_marker primary "$(control 'Database system identifier')"
    fi
    roles_are_current || renew_roles
}

# A private start costs a second, and it is rare: other passwords, or a kill at a bad moment.
renew_roles() {
    start_privately
    ask_here -c 'SELECT FROM pg_authid LIMIT 1' >/dev/null 2>"$WORDS" || let_superuser_in
    make_roles
    stop_privately
}

# One who may not log in, or is none any more, can be let in where nobody logs in.
let_superuser_in() {
    is_shut_out "$WORDS" || refuse FAILED "$(tail -n 3 "$WORDS")"
    stop_privately
    "$BIN/postgres" --single "${arguments[@]}" postgres <<<"BEGIN READ WRITE; ALTER ROLE $SUPERUSER SUPERUSER LOGIN; COMMIT" >"$WORDS" 2>&1 ||
        refuse_in_words_of "its superuser cannot be let in" "$WORDS"
    start_privately
}

create_cluster() {
    say "makes a new database cluster"
    attempt initdb "$BIN/initdb" -D "$NEW" --username="$SUPERUSER" --locale=C.UTF-8 --encoding=UTF8 \
        --data-checksums --auth-local=peer --auth-host=scram-sha-256 --no-instructions >/dev/null
    write_marker primary "$(control 'Database system identifier' "$NEW")"
    mv "$NEW" "$PGDATA"
    keep "$DATA"
}

# In private, since the server answers as soon as it is promoted and must not before the marker says so.
promote() {
    local promoted
    say "is promoted to primary of epoch $epoch"
    start_privately
    promoted=$(ask_here -c "SELECT pg_promote(true, 600)" 2>"$WORDS") || cat "$WORDS" >&2
    [[ $promoted == t ]] || private_failure "the server is not promoted"
    make_roles
    ask_here -c CHECKPOINT >/dev/null
    stop_privately
    write_marker primary "$(control 'Database system identifier')"
}

# Has this primary other passwords to bring than it had, and does a peer refuse them? All others get theirs from here, so it
# follows and knows the old ones; one that was promoted since would know these.
knows_old_passwords() {
    [[ $marked_role == primary && -f $DATA/roles ]] && ! roles_are_current &&
        grep -q 'password authentication failed' "$WORDS-$1"
}

# The operator promises that there is none; this looks for a while, since one that has just started says for a moment
# that it cannot tell.
no_other_primary() {
    local peer
    ask_peers look_at_peer
    for peer in "$RUN"/peer-*; do
        [[ -s $peer ]] || continue
        refuse "$(cut -d: -f1 "$peer")" "$(cut -d: -f2- "$peer" | sed 's/^ //')"
    done
}

# ask_peers FUNCTION: calls it with the host of each, all at once; what it prints stands in peer-ORDINAL.
ask_peers() {
    local peer
    rm -f "$RUN"/peer-*
    while read -r peer; do
        [[ -n ${peer#*=} && ${peer%%=*} != "$me" ]] || continue
        (trap - ERR && "$1" "${peer#*=}" >"$RUN/peer-${peer%%=*}") &
    done < <(tr -s '[:space:]' '\n' <"$TOPOLOGY/peers" && echo)
    wait
}

# Ordinals of the peers that hold all that this server, which ended cleanly, has written: `1,2`. At its end a server
# waits for those that follow it, and who did not follow at that moment lacks what others were told is kept.
complete() {
    local peer ordinals=()
    ask_peers holds_all
    for peer in "$RUN"/peer-*; do
        if [[ -s $peer ]]; then ordinals+=("${peer##*-}"); fi
    done
    (IFS=, && echo "${ordinals[*]}")
}

holds_all() {
    local system='' timeline='' flushed=''
    read -r system timeline flushed _ < <(identify "$1") || true
    [[ $system == "$(control 'Database system identifier')" && $timeline == "$(control "Latest checkpoint's TimeLineID")" ]] || return 0
    # The record of that checkpoint is what was written last: who has only come to where it begins lacks it.
    if (($(position "$flushed") > $(position "$(control 'Latest checkpoint location')"))); then echo yes; fi
}

# Says a peer that recovers that it is a replica? A primary has hot_standby off, and says that then.
is_waiting_replica() {
    grep -q 'not yet accepting connections' "$WORDS-$1"
}

# Prints an obstacle, or nothing.
look_at_peer() {
    local host=$1 code=0 try timeline='' recovering='' mine=0
    if [[ -e $PGDATA ]]; then mine=$(control "Latest checkpoint's TimeLineID"); fi
    for ((try = 0; try < ${POINTSMAN_PATIENCE:-15}; try++)); do
        code=0
        answers "$host" || code=$?
        ((code < 2)) || return 0
        read -r _ timeline _ recovering < <(identify "$host") || true
        if [[ $recovering == off ]]; then
            echo "OTHER_PRIMARY: $host answers and is a primary"
            return
        elif [[ $recovering == on ]]; then
            ((timeline <= mine)) || echo "NEWER_TIMELINE: $host is on timeline $timeline and this volume on $mine"
            return
        fi
        ! knows_old_passwords "$host" || return 0
        sleep 1
    done
    # What it needs to let somebody in, this primary alone has: each would wait for the other.
    ! is_waiting_replica "$host" || return 0
    echo "PEER_UNKNOWN: $host answers, and will not say what it is (if it is a replica, delete its pod: the volume stays):" \
        "$(head -n 1 "$WORDS-$host")"
}
