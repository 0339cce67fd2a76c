#!/usr/bin/env bash
# Job: what an image's PostgreSQL is and knows, found out without a server. README.md has the answer's format.
set -Eeuo pipefail
# shellcheck disable=SC2154,SC2153
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
source "$here/words.sh"
command -v postgres >/dev/null || refuse NOT_POSTGRESQL "the image has no program called postgres"
# shellcheck source=/dev/null
source "$here/server.sh"

NAME='^[A-Za-z_][A-Za-z0-9_.-]{0,62}$'
LIBRARIES=$("$BIN/pg_config" --pkglibdir 2>/dev/null) || LIBRARIES=${BIN%/*}/lib
read -ra settings <<<"${POINTSMAN_SETTINGS:-}"
read -ra extensions <<<"${POINTSMAN_EXTENSIONS:-}"

# A library that says so itself has to be loaded before the server starts.
needs_preload() {
    [[ -f $LIBRARIES/$1.so ]] || return 1
    case $1 in
    pg_stat_statements | auto_explain | pg_cron | pgaudit | timescaledb | pg_stat_kcache | pg_qualstats | pg_wait_sampling) return 0 ;;
    esac
    grep -aqE 'must be (loaded|included) (via|in) "?shared_preload_libraries' "$LIBRARIES/$1.so"
}

# Libraries whose settings or extensions are asked for; without them their settings are unknown.
preloads() {
    local name prefix found=()
    for name in "${settings[@]}" "${extensions[@]}"; do
        [[ $name =~ $NAME ]] || continue
        prefix=${name%%.*}
        [[ " ${found[*]} " == *" $prefix "* ]] || ! needs_preload "$prefix" || found+=("$prefix")
    done
    local IFS=,
    echo "${found[*]}"
}

# values NAME...: an SQL list that keeps the order. What is not a name at all is asked for as the empty name.
values() {
    local name number=0 list=''
    for name in "$@"; do
        number=$((number + 1))
        [[ $name =~ $NAME ]] || name=
        list+="${list:+,}($number,'$name')"
    done
    echo "${list:-(0,'')}"
}

# What the server says of the settings as they are to be; nothing where it takes them all.
refusals() {
    local configuration=$SCRATCH/tried.conf said asked=server_version_num
    # What is computed at a start comes after the checks of a start; versions before 15 compute nothing without one.
    ((version < 150000)) || asked=shared_memory_size
    printf '%s' "${POINTSMAN_CONFIGURATION:-}" >"$configuration"
    local told=(-D "$SCRATCH/pgdata" -c "config_file=$configuration" -c log_line_prefix= -c log_min_messages=warning
        -c log_destination=stderr)
    if "$BIN/postgres" "${told[@]}" -C "$asked" >/dev/null 2>"$WORDS"; then
        # What a session loads, say, is met by a session alone. It is given little memory: this is no server's place.
        [[ -n ${POINTSMAN_CONFIGURATION:-} ]] || return 0
        said=$(echo 'SELECT 1 AS answer' | "$BIN/postgres" --single "${told[@]}" -c shared_buffers=1MB -c huge_pages=off \
            -c logging_collector=off -c statement_timeout=0 postgres 2>"$WORDS") || true
        [[ $said != *'answer = "1"'* ]] || return 0
    fi
    said=$(sed -n -e '/ contains errors$/d' -e 's| in file "[^"]*" line [0-9]*||' -e 's/^[^ :]*:  *//p' "$WORDS" |
        tr -s '\n\r\t' ' ' | tr -c '[:print:]' '?')
    said=${said:-the server does not start, and says nothing}
    echo "${said:0:500}"
}

# ask SQL: the one value of the one row; standard error says what was wrong.
ask() {
    printf '%s\n' "$1" | "$BIN/postgres" --single -D "$SCRATCH/pgdata" -c "shared_preload_libraries=$preload" \
        -c log_min_messages=fatal postgres 2>"$WORDS" | sed -n 's/^[^"]*1: answer = "\(.*\)"[^"]*$/\1/p'
}

[[ -d $RUN ]] || mkdir -p "$RUN"
rm -rf "$SCRATCH/pgdata"
attempt initdb "$BIN/initdb" -D "$SCRATCH/pgdata" --username="$SUPERUSER" --locale=C.UTF-8 --encoding=UTF8 --no-sync \
    --auth=reject --no-instructions >/dev/null
preload=$(preloads)
version=$(ask "SELECT current_setting('server_version_num') AS answer")
[[ $version =~ ^[0-9]+$ ]] || refuse FAILED "the server does not answer: $(tail -n 3 "$WORDS")"
answer="version=$version settings=" more=''
if ((${#settings[@]})); then
    more=$(ask "SELECT string_agg(coalesce(left(context, 2) || left(vartype, 1) || ',' || coalesce(unit, '') || ',' || coalesce(min_val, '') || ',' || coalesce(max_val, ''), '?'), ';' ORDER BY n) AS answer FROM (VALUES $(values "${settings[@]}")) AS wanted(n, wanted) LEFT JOIN pg_settings ON lower(name) = lower(wanted)")
    [[ -n $more ]] || refuse FAILED "the settings cannot be read: $(tail -n 3 "$WORDS")"
fi
answer+="$more extensions=" more=''
if ((${#extensions[@]})); then
    available=$(ask "SELECT string_agg(CASE WHEN name IS NULL THEN '-' ELSE 'a' END, '' ORDER BY n) AS answer FROM (VALUES $(values "${extensions[@]}")) AS wanted(n, wanted) LEFT JOIN pg_available_extensions ON name = wanted")
    ((${#available} == ${#extensions[@]})) ||
        refuse FAILED "the extensions cannot be read: $(tail -n 3 "$WORDS")"
    for ((at = 0; at < ${#extensions[@]}; at++)); do
        one=${available:at:1}
        [[ $one != a ]] || ! needs_preload "${extensions[at]}" || one=p
        more+=$one
    done
fi
wrong=$(refusals)
rm -rf "$SCRATCH/pgdata"
succeed "$answer$more${wrong:+ wrong=$wrong}"
