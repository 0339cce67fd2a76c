# shellcheck shell=bash disable=SC2034
# Sourced first by every script: where things are, and what is said when it ends.

TERMINATION_LOG=${POINTSMAN_TERMINATION_LOG:-/dev/termination-log}
SCRIPTS=/pointsman/scripts
CONFIG=/pointsman/config
SETTINGS=/pointsman/settings
TOPOLOGY=/pointsman/topology
SECRETS=/pointsman/internal
DATA=/pointsman/data
RUN=/pointsman/run
BACKUPS=/pointsman/backups
SCRATCH=/pointsman/scratch
# What a program says, until it is read. By script, since a readiness probe runs beside the start of its server.
WORDS=$RUN/words-of-${0##*/}
PORT=${POINTSMAN_PORT:-5432}
SUPERUSER=postgres
REPLICATION_ROLE=pointsman_replication

# Output of programs is read below, so it must not depend on the image's language. The server does not look at this.
export LC_ALL=C PGCLIENTENCODING=UTF8
export TMPDIR=$RUN
umask 077

say() {
    printf 'pointsman: %s\n' "$*" >&2
}

# One line that Kubernetes keeps: at most 4096 bytes, and nothing that is not ASCII, since it may be cut anywhere.
# The first words win: what fails because of them says nothing new.
last_words() {
    local line
    line=$(printf '%s' "$*" | tr -s '\n\r\t' ' ' | tr -c '[:print:]' '?')
    say "$line"
    [[ -s $TERMINATION_LOG ]] || printf '%s\n' "${line:0:4000}" >"$TERMINATION_LOG"
}

# refuse WORD SENTENCE: ends the script.
refuse() {
    last_words "$1: $2"
    exit 3
}

# succeed KEY=VALUE...: the result that the operator reads.
succeed() {
    local line="OK $*"
    printf '%s\n' "$line"
    ((${#line} < 4096)) || refuse TOO_LONG "the answer has ${#line} bytes and a termination message takes 4096"
    printf '%s\n' "$line" >"$TERMINATION_LOG"
}

# Runs a program so that a signal is heard at once; its own words become ours when it fails.
# attempt WHAT PROGRAM [ARGUMENT]...
attempt() {
    local what=$1
    shift
    "$@" 2>"$WORDS" &
    child=$!
    if wait "$child"; then
        child=
        return
    fi
    child=
    refuse_in_words_of "$what" "$WORDS"
}

# refuse_in_words_of WHAT FILE: a program's own words, those about an error before those that follow from it.
refuse_in_words_of() {
    local words
    words=$(grep -E '[Ee]rror:|detail:|ERROR:|FATAL:|PANIC:' "$2" | head -n 4 | cut -c1-700) || words=$(tail -n 4 "$2")
    if grep -q 'No space left on device' "$2"; then refuse NO_SPACE "$1: $words"; fi
    refuse FAILED "$1: $words"
}

# The first process of a container hears a signal only where it listens for it.
leave() {
    # TERM, since what runs in the background does not hear INT.
    [[ -z $child ]] || kill -TERM "$child" 2>/dev/null || true
    [[ -z $child ]] || wait "$child" || true
    last_words "STOPPED: told to by SIG$1"
    exit 143
}

child=
: >"$TERMINATION_LOG"
trap 'leave TERM' TERM
trap 'leave INT' INT
trap 'refuse FAILED "${BASH_SOURCE[0]##*/}, line $LINENO: $BASH_COMMAND"' ERR
