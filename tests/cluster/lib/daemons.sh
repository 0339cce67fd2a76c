# Starts programs that outlive this script and stops exactly those again.
# shellcheck shell=bash

# The moment a process started, in clock ticks since boot: together with the
# id it names one process for good, where an id alone is handed out again.
start_time_of() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    # The second field is the program's name and may hold blanks and brackets.
    stat=${stat##*) }
    # shellcheck disable=SC2086
    set -- $stat
    [[ $1 != Z ]] || return 1
    echo "${20}"
}

start_daemon() {
    local name=$1
    shift
    mkdir -p "$LOGS" "$PIDS"
    (
        # An inherited pipe or lock would be held for as long as the daemon lives.
        for descriptor in /proc/self/fd/*; do
            descriptor=${descriptor##*/}
            ((descriptor <= 2)) || eval "exec $descriptor>&-"
        done
        cd "$RUN" || exit
        # There is more memory than time to collect it in; and a test that starts one means it for itself alone.
        export GOGC=400
        unset GOMAXPROCS
        exec setsid "$BED_HOME/first" "$@"
    ) </dev/null >"$LOGS/$name.log" 2>&1 &
    echo "$! $(start_time_of $!)" >"$PIDS/$name"
}

is_running() {
    local pid started
    [[ -f $PIDS/$1 ]] || return 1
    read -r pid started <"$PIDS/$1" || return 1
    [[ -n $started && $(start_time_of "$pid") == "$started" ]]
}

fail_if_a_daemon_died() {
    local record name
    for record in "$PIDS"/*; do
        [[ -f $record ]] || continue
        name=${record##*/}
        is_running "$name" && continue
        printf '\n--- %s ended; the last lines of its log:\n' "$name" >&2
        tail -n 15 "$LOGS/$name.log" >&2
        fail "$name ended while the bed was starting"
    done
}

signal_daemon() {
    local pid
    is_running "$1" || return 0
    read -r pid _ <"$PIDS/$1"
    kill "-$2" "$pid" 2>/dev/null || true
}

# stop_daemons NAME...: asks all of them, waits together, then insists.
stop_daemons() {
    local name deadline=$((SECONDS + 5))
    for name in "$@"; do
        signal_daemon "$name" TERM
    done
    for name in "$@"; do
        while is_running "$name" && ((SECONDS < deadline)); do
            sleep 0.05
        done
        signal_daemon "$name" KILL
        while is_running "$name"; do
            sleep 0.05
        done
        rm -f "$PIDS/$name"
    done
}

recorded_daemons() {
    local record
    for record in "$PIDS"/*; do
        [[ -f $record ]] && echo "${record##*/}"
    done
    return 0
}

# Seconds of CPU that each daemon took so far, and the pods where there are real ones; who ended before is not counted.
print_cpu() {
    local name pid fields hz seconds all=0
    hz=$(getconf CLK_TCK)
    for name in $(recorded_daemons); do
        is_running "$name" || continue
        read -r pid _ <"$PIDS/$name"
        fields=$(<"/proc/$pid/stat")
        read -ra fields <<<"${fields##*) }"
        seconds=$(((fields[11] + fields[12] + fields[13] + fields[14]) / hz))
        printf '%s: %d s\n' "$name" "$seconds"
        all=$((all + seconds))
    done
    if [[ $(<"$RUN/tier") == node ]]; then
        seconds=$(awk '{ print int($1 / 1e9) }' "$CGROUPS/cpuacct/kubepods/cpuacct.usage" 2>/dev/null ||
            awk '$1 == "usage_usec" { print int($2 / 1e6) }' "$CGROUPS/kubepods/cpu.stat" 2>/dev/null || echo 0)
        printf 'pods: %d s\n' "$seconds"
        all=$((all + seconds))
    fi
    printf 'CPU of daemons and pods: %d s\n' "$all"
}
