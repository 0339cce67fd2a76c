# shellcheck shell=bash disable=SC2034,SC2154
# Sourced: what lies in the volume, and what the topology says.

PGDATA=$DATA/pgdata
NEW=$DATA/pgdata.new
OLD=$DATA/pgdata.old
GONE=$DATA/pgdata.gone
MARKER=$DATA/marker
# What a replica was refused for: its epoch and primary, the word, the sentence.
REFUSED=$DATA/refused
me=${POINTSMAN_POD##*-}

# read_topic VARIABLE KEY: a key of the topology, or nothing. The readiness probe reads four each time, so without a process.
read_topic() {
    local text=''
    [[ ! -f $TOPOLOGY/$2 ]] || IFS= read -r -d '' text <"$TOPOLOGY/$2" || true
    printf -v "$1" '%s' "${text//[[:space:]]/}"
}

read_topology() {
    local before=none
    # A kubelet puts other values in place at once, and may do so between two of these.
    read_topic epoch epoch
    while [[ $before != "$epoch" ]]; do
        before=$epoch
        read_topic primary primary
        read_topic systemid systemid
        read_topic claim "claim-$me"
        read_topic epoch epoch
    done
    [[ $me =~ ^[0-9]+$ && $primary =~ ^[0-9]*$ && $epoch =~ ^[1-9][0-9]*$ && -n $claim ]] ||
        refuse TOPOLOGY "primary '$primary', epoch '$epoch', claim '$claim' for $POINTSMAN_POD make no sense"
}

# The lock belongs to the open file, so it is held until the last process of this server is gone. PostgreSQL's own
# lock would not do: each pod counts its processes from 1, so a server takes the other's file for its own.
lock_volume() {
    exec 9>"$DATA/.lock"
    flock -n 9 || refuse VOLUME_IN_USE "another server runs on this volume"
}

# Whatever was interrupted. Under the lock nobody else's file can be meant.
tidy_volume() {
    rm -rf "$NEW" "$GONE"
    if [[ -d $OLD && ! -e $PGDATA ]]; then mv "$OLD" "$PGDATA"; fi
    rm -rf "$OLD"
    if [[ -d $PGDATA ]]; then rmdir "$PGDATA" 2>/dev/null || true; fi
    rm -f "$PGDATA/postmaster.pid" "$RUN"/.s.PGSQL.* "$RUN"/private/.s.PGSQL.*
}

read_marker() {
    marked_epoch=0 marked_role='' marked_primary='' marked_systemid='' marked_claim=''
    [[ -f $MARKER ]] || return 0
    local key value
    while IFS='=' read -r key value; do
        case $key in
        epoch) marked_epoch=$value ;;
        role) marked_role=$value ;;
        primary) marked_primary=$value ;;
        systemid) marked_systemid=$value ;;
        claim) marked_claim=$value ;;
        esac
    done <"$MARKER"
    [[ $marked_epoch =~ ^[0-9]+$ ]] || refuse FOREIGN_DATA "the volume's marker is not one"
}

# An epoch has one primary. It has two where the API server's data was put back to a time before the first, and another was named
# then: each goes on from the same timeline to one of the same number, so that positions alone do not tell them apart.
was_led_by_another() {
    [[ -n $primary && -n $marked_primary && $marked_primary != "$primary" ]] && ((marked_epoch == epoch))
}

# write_marker ROLE SYSTEMID: beside PGDATA, whose every file a clone would copy.
write_marker() {
    local text
    printf -v text 'epoch=%s\nrole=%s\nprimary=%s\nsystemid=%s\nclaim=%s\n' "$epoch" "$1" "$primary" "$2" "$claim"
    # What stands already needs no room, of which a full volume has none.
    [[ -f $MARKER && $(<"$MARKER")$'\n' == "$text" ]] || write_whole "$MARKER" "$text" ||
        refuse_in_words_of "$MARKER cannot be written" "$WORDS"
    [[ $1 == cloning ]] || rm -f "$REFUSED"
    keep "$DATA"
    read_marker
}

# write_whole FILE TEXT: all of the text, or the file as it was; on the disk, so that no loss of power takes it back.
write_whole() {
    if printf '%s' "$2" 2>"$WORDS" >"$1.new" && keep "$1.new"; then
        mv "$1.new" "$1"
    else
        rm -f "$1.new"
        return 1
    fi
}

# keep PATH: on the disk, where sync can do that for one file; all of it elsewhere.
keep() {
    sync "$1" 2>/dev/null || sync
}

# control LABEL [FOLDER]: a line of pg_controldata.
control() {
    "$BIN/pg_controldata" "${2:-$PGDATA}" | sed -n "s/^$1: *//p"
}

# How far the data of a replica has come: timeline and position.
reached() {
    local timeline position
    position=$(control 'Minimum recovery ending location')
    timeline=$(control "Min recovery ending loc's timeline")
    if [[ $position == 0/0 ]]; then
        position=$(control 'Latest checkpoint location')
        timeline=$(control "Latest checkpoint's TimeLineID")
    fi
    echo "$timeline $position"
}

# What any start needs to be true of a volume that is not empty.
check_volume() {
    local major found
    local marked="epoch=$marked_epoch role=$marked_role primary=$marked_primary systemid=$marked_systemid"
    # A clone that was interrupted has left nothing, whichever claim it was begun under.
    [[ -z $marked_claim || $marked_claim == "$claim" || ($marked_role == cloning && ! -e $PGDATA) ]] ||
        refuse FOREIGN_CLAIM "the volume was written under claim $marked_claim and is mounted as $claim"
    ((marked_epoch <= epoch)) ||
        refuse STALE_CONFIG "the volume has seen epoch $marked_epoch and the topology says $epoch; $marked"
    [[ -e $PGDATA ]] || return 0
    [[ -f $PGDATA/PG_VERSION ]] || refuse FOREIGN_DATA "pgdata holds no PostgreSQL data"
    major=$("$BIN/postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
    [[ $(<"$PGDATA/PG_VERSION") == "$major" ]] ||
        refuse VERSION "the data is of PostgreSQL $(<"$PGDATA/PG_VERSION") and the image is $major"
    [[ -n $marked_role ]] || refuse FOREIGN_DATA "the volume holds data and no marker"
    found=$(control 'Database system identifier')
    [[ $found == "$marked_systemid" && $found == "${systemid:-$found}" ]] ||
        refuse FOREIGN_DATA "the data has system identifier $found, the marker $marked_systemid, the topology '$systemid'"
    # fsGroup opens the folder to the group, and the server refuses that.
    chmod 0700 "$PGDATA"
}
