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

# watched WHAT LOG COMMAND...: what a command prints goes to a log, which is named when it fails; who waits sees a line, and
# another one each minute.
watched() {
    local what=$1 log=$CACHE/logs/$2.log started=$EPOCHREALTIME ticker status
    shift 2
    mkdir -p "${log%/*}"
    echo "$what"
    while sleep 60 && kill -0 $$; do printf '%s: for %.0f s\n' "$what" "$(seconds_since "$started")"; done 2>/dev/null &
    ticker=$!
    disown "$ticker"
    # In a condition `set -e` would not hold within the command.
    set +e
    (set -e && "$@") >"$log" 2>&1
    status=$?
    set -e
    end_ticker "$ticker"
    if ((status)); then
        tail -n 15 "$log" >&2
        fail "$what: failed; all that it printed is in $log"
    fi
    printf '%s: done in %.0f s\n' "$what" "$(seconds_since "$started")"
}

# The sleep is a process of its own.
end_ticker() {
    pkill --parent "$1" || true
    kill "$1" 2>/dev/null || true
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
