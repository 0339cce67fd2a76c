# What the person who waits sees: steps with their time, and failures.
# shellcheck shell=bash

BED_STARTED=$EPOCHREALTIME

restart_clock() {
    BED_STARTED=$EPOCHREALTIME
}

seconds_since() {
    awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}

step() {
    printf '%7s s  %s\n' "$(seconds_since "$BED_STARTED")" "$*"
}

fail() {
    printf 'bed: %s\n' "$*" >&2
    exit 1
}

# wait_until SECONDS WHAT COMMAND...: returns 1 when the time is over.
wait_until() {
    local limit=$1 what=$2 deadline=$((SECONDS + $1))
    shift 2
    until "$@" >/dev/null 2>&1; do
        fail_if_a_daemon_died
        if ((SECONDS >= deadline)); then
            fail "$what: not so after $limit s; the logs are in $LOGS"
        fi
        sleep 0.1
    done
}
