# Steps of a run, some beside others: each has a log, and its seconds and seconds of CPU are kept.
# shellcheck shell=bash

STARTED=$EPOCHREALTIME
TURN=
LANES=()

# begin_steps FOLDER: for the logs, of one run at a time. In STEPS stands a line per step: start, seconds, seconds of CPU, tests that
# passed, and title.
begin_steps() {
    STEP_LOGS=$1
    STEPS=$STEP_LOGS/steps
    mkdir -p "${STEP_LOGS%/*}"
    exec {TURN}>"$STEP_LOGS.lock"
    flock --nonblock "$TURN" || { echo "another run of these tests is on; its logs are in $STEP_LOGS" >&2 && exit 1; }
    rm -rf "$STEP_LOGS"
    mkdir -p "$STEP_LOGS"
    : >"$STEPS"
}

# say WORDS...: a line with the time since the start.
say() {
    awk -v from="$STARTED" -v to="$EPOCHREALTIME" -v words="$*" 'BEGIN { printf "=== %4d s  %s\n", to - from, words }'
}

# step TITLE COMMAND...: runs it with its output in a log, and with SHOWN before the eyes of who waits. One that fails ends the
# lane, with what is known about it; `set -e` holds within it, so a step stands in no condition.
step() {
    local title=$1 log status from=$EPOCHREALTIME cpu ticker self=$BASHPID
    shift
    log=$(log_of "$title")
    cpu=$(cpu_of_children "$self")
    say "$title"
    set +e
    if [[ -n ${SHOWN:-} ]]; then
        (set -e && "$@") 2>&1 | tee "$log"
        status=${PIPESTATUS[0]}
    else
        tell_each_minute "$title" "$log" 2>/dev/null &
        ticker=$!
        disown "$ticker"
        (set -e && "$@") >"$log" 2>&1
        status=$?
        { pkill --parent "$ticker"; kill "$ticker"; } 2>/dev/null
    fi
    set -e
    if ((status)); then
        say "$title: FAILED; all that it printed is in $log" | tee -a "$STEP_LOGS/failed"
        cat "$log"
        asserted "$log" >>"$STEP_LOGS/failed"
        exit 1
    fi
    record "$title" "$log" "$from" "$cpu" "$(cpu_of_children "$self")"
}

# tests_step TITLE COMMAND...: a step that fails, too, where no test ran, or some were ignored: a filter may match none.
tests_step() {
    step "$@"
    awk '/^test result: ok\./ { passed += $4; ignored += $8 } END { exit ignored || !passed }' "$(log_of "$1")" ||
        { say "$1: FAILED; no test ran, or some were ignored" | tee -a "$STEP_LOGS/failed" && exit 1; }
}

# log_of TITLE: the file with what that step prints.
log_of() {
    local name
    name=$(tr -cs '[:alnum:]' - <<<"${1,,}")
    echo "$STEP_LOGS/${name%-}.log"
}

# What whoever waits for long sees: the last line of what a step prints.
tell_each_minute() {
    # It may outlive the run by a minute.
    [[ -z ${TURN:-} ]] || exec {TURN}>&-
    [[ -z ${COMPILES:-} ]] || exec {COMPILES}>&-
    while sleep 60 && kill -0 $$ 2>/dev/null; do
        say "$1: $(tail -n 1 "$2" | cut -c1-100)"
    done
}

# Seconds of CPU of the processes that this one waited for, in clock ticks.
cpu_of_children() {
    local fields
    fields=$(<"/proc/$1/stat")
    # The second field is the program's name and may hold blanks.
    read -ra fields <<<"${fields##*) }"
    echo $((fields[13] + fields[14]))
}

# record TITLE LOG FROM TICKS TICKS: what daemons and pods took, which no step waits for, stands in its log.
record() {
    local title=$1 log=$2 from=$3 ticks=$(($5 - $4)) passed daemons
    passed=$(sed -n 's/^test result: ok\. \([0-9]*\) passed; .*/\1/p' "$log" | awk '{ all += $1 } END { print all + 0 }')
    daemons=$(sed -n 's/^CPU of daemons and pods: \([0-9]*\) s$/\1/p' "$log" | awk '{ all += $1 } END { print all + 0 }')
    awk -v begin="$STARTED" -v from="$from" -v to="$EPOCHREALTIME" -v cpu="$ticks" -v hz="$(getconf CLK_TCK)" -v more="$daemons" \
        -v passed="$passed" -v title="$title" \
        'BEGIN { printf "%d\t%d\t%d\t%d\t%s\n", from - begin, to - from, cpu / hz + more, passed, title }' >>"$STEPS"
    awk -F'\t' -v title="$title" '$5 == title { last = sprintf("%s: done in %d s, %d s of CPU%s", $5, $2, $3,
        $4 ? sprintf(", %d tests passed", $4) : "") } END { print last }' "$STEPS" | while read -r line; do say "$line"; done
}

# asserted LOG: what failed, of all that was printed.
asserted() {
    awk '/^what was written in / { told = 0 } /panicked at / { told = 8 } told-- > 0 { print substr($0, 1, 2000) }' "$1"
}

# beside LANE...: runs these functions beside each other, and fails when all have ended and one of them failed. Each is a
# process group of its own: an interrupt ends them, and what they have to undo is undone.
beside() {
    local lane failed=0
    LANES=()
    set -m
    for lane in "$@"; do
        "$lane" </dev/null &
        LANES+=($!)
    done
    set +m
    trap 'end_lanes; exit 130' INT TERM HUP
    for lane in "${LANES[@]}"; do
        wait "$lane" || failed=1
    done
    trap - INT TERM HUP
    # The end is what is kept of a long output, so the cause comes last; a lane within a lane leaves that to the outer one.
    ((!failed || BASHPID != $$)) || cat "$STEP_LOGS/failed" 2>/dev/null || true
    return "$failed"
}

# What this lane starts computes when the other lanes leave a core.
yield_the_cores() { renice -n 19 -p "$BASHPID" >/dev/null; }

end_lanes() {
    local lane
    for lane in "${LANES[@]}"; do
        kill -TERM -- "-$lane" 2>/dev/null || true
    done
    # Not only for a lane itself: what it has begun takes a cluster down. What does not end by then is killed.
    local until=$((SECONDS + 150))
    for lane in "${LANES[@]}"; do
        while kill -0 -- "-$lane" 2>/dev/null && ((SECONDS < until)); do sleep 0.1; done
        kill -KILL -- "-$lane" 2>/dev/null || true
    done
}

# print_times: the steps as a table in Markdown.
print_times() {
    printf '| Step | begins at | seconds | seconds of CPU | tests |\n|---|---|---|---|---|\n'
    sort -n "$STEPS" | awk -F'\t' '
        function row(title, from, to, cpu, tests) { printf "| %s | %d | %d | %d | %s |\n", title, from, to, cpu, tests ? tests : "" }
        { row($5, $1, $2, $3, $4); cpu += $3; tests += $4; end = $1 + $2 > end ? $1 + $2 : end }
        END { row("all", 0, end, cpu, tests) }'
}
