# shellcheck shell=bash disable=SC2034,SC2153
# Sourced: PostgreSQL's programs, and how another server is asked.

# Not `psql` from PATH, which is a slow wrapper where the image was built from Debian packages.
hash postgres
BIN=${BASH_CMDS[postgres]}
[[ ! -L $BIN ]] || BIN=$(readlink -f "$BIN")
BIN=${BIN%/*}
PASSFILE=$RUN/passfile
SOCKET=$RUN
SSLMODE=${PGSSLMODE:-prefer}
# Of our own sessions: what a user has set for all of them neither hinders these, nor leads their words to objects of his.
# What a connection asks for beats what a database, a role or the server's file says.
OWN_SESSION='-c search_path=pg_catalog -c default_transaction_read_only=off -c statement_timeout=0 -c lock_timeout=0'
OWN_SESSION+=' -c idle_in_transaction_session_timeout=0 -c default_transaction_isolation=read\ committed'
OWN_SESSION+=' -c default_transaction_deferrable=off -c quote_all_identifiers=off -c role=none -c local_preload_libraries='
# The dump's own strings, and what reads them, agree on what a backslash means.
OWN_SESSION+=' -c standard_conforming_strings=on'
# Of what is written into a dump, and read out of it, these change the meaning.
OWN_SESSION+=' -c array_nulls=on -c lc_monetary=C'
# A server takes no session that asks for a setting it does not know: these came with the versions of these programs, 14 and 17.
[[ ! -x $BIN/pg_amcheck ]] || OWN_SESSION+=' -c idle_session_timeout=0'
[[ ! -x $BIN/pg_createsubscriber ]] || OWN_SESSION+=' -c transaction_timeout=0'

# write_passfile ROLE KEY: libpq ignores a file that the group may read, and a mounted Secret is one. It reads it at each
# connection: a password that was changed meanwhile counts from then on.
write_passfile() {
    local password line
    password=$(<"$SECRETS/$2")
    password=${password//\\/\\\\}
    password=${password//:/\\:}
    printf -v line '*:*:*:%s:%s' "$1" "$password"
    export PGPASSFILE=$PASSFILE
    if [[ ! -f $PASSFILE || $(<"$PASSFILE") != "$line" ]]; then
        (umask 077 && printf '%s\n' "$line" >"$PASSFILE.new")
        mv "$PASSFILE.new" "$PASSFILE"
    fi
}

# How another server has to prove that it knows the password, before it gets an answer. By an environment that no user's own
# connections of the server have; a libpq before 16 does not heed it.
PROOF=scram-sha-256

# connection HOST [MORE]: without the password, so that it may stand on a command line.
connection() {
    printf 'host=%s port=%s user=%s passfile=%s sslmode=%s connect_timeout=5 %s' \
        "$1" "$PORT" "$REPLICATION_ROLE" "$PASSFILE" "$SSLMODE" "${2:-}"
}

# As the superuser of this pod, whatever its password: peer authentication through the socket.
ask_here() {
    PGOPTIONS="$OWN_SESSION ${PGOPTIONS:-}" "$BIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "$SOCKET" -p "$PORT" -U "$SUPERUSER" -d postgres "$@"
}

# ask_there HOST MORE COMMAND...: another server, as the role of replication; what went wrong is kept in words-HOST. MORE
# replication=true is for what a sender of the log tells: it has places of its own where max_connections are taken.
ask_there() {
    PGREQUIREAUTH=$PROOF PGOPTIONS=$OWN_SESSION "$BIN/psql" -XAtq -v ON_ERROR_STOP=1 -d "$(connection "$1" "$2")" "${@:3}" 2>"$WORDS-$1"
}

# Prints system identifier, timeline, flushed position, and whether it is in recovery (on, off).
identify() {
    ask_there "$1" replication=true -c IDENTIFY_SYSTEM -c 'SHOW in_hot_standby' |
        awk -F'|' 'NR == 1 { said = $1 " " $2 " " $3 } END { if (NR == 2) print said, $1 }'
}

# answers HOST: 0 when it takes connections, 1 when it starts or stops, 2 when nobody is there.
answers() {
    local code=0
    "$BIN/pg_isready" -q -h "$1" -p "$PORT" -t 2 || code=$?
    return "$code"
}

# A position in the log as a number: 16/B374D848.
position() {
    echo $((16#${1%/*} << 32 | 16#${1#*/}))
}

# judge TIMELINE POSITION KIND [NEEDED]: whether data that has come this far can follow the primary.
# follows, ahead (it has what the primary never had), gone (the log in between was removed), unknown (no answer).
# NEEDED is where it goes on reading, if not at POSITION. A replica may stand on the switch point itself; the last checkpoint of an old primary begins before it.
judge() {
    local timeline=$1 reached=$2 kind=$3 host=$POINTSMAN_PRIMARY theirs='' flushed='' fork recovering=''
    read -r _ theirs flushed recovering < <(identify "$host" || true) || true
    [[ $recovering == off ]] || { echo unknown; return; }
    fork=$flushed
    if ((theirs < timeline)); then
        echo ahead
        return
    elif ((theirs > timeline)); then
        # Who cannot tell its history just now has not told that this timeline is no part of it.
        fork=$(fork_of "$host" "$theirs" "$timeline") || { echo unknown; return; }
        [[ -n $fork ]] || { echo ahead; return; }
    elif [[ $kind == primary ]]; then
        echo ahead
        return
    fi
    if (($(position "$reached") > $(position "$fork"))) ||
        [[ $kind == primary && $reached == "$fork" ]]; then
        echo ahead
    else
        log_since "$host" "${4:-$reached}"
    fi
}

# fork_of HOST THEIRS MINE: where timeline THEIRS left timeline MINE; nothing where it never was on it. False without an answer.
fork_of() {
    local history
    history=$(ask_there "$1" replication=true -c "TIMELINE_HISTORY $2") && [[ -n $history ]] || return 1
    sed '1s/^[^|]*|//' <<<"$history" | awk -v mine="$3" '$1 == mine && !found { print $2; found = 1 }'
}

# log_since HOST POSITION: follows, or gone. Names of history files sort between those of the log.
log_since() {
    local there
    there=$(ask_there "$1" dbname=postgres -c "SELECT substr(pg_walfile_name('$2'::pg_lsn + 1), 9) >= min(substr(name, 9))
        FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}\$'") || there=
    case $there in
    t) echo follows ;;
    f) echo gone ;;
    *) echo unknown ;;
    esac
}
