# shellcheck shell=bash disable=SC2153,SC2154
# Sourced: what Jobs that talk to the server have in common.

# A server that asks for the password in clear is not ours, and does not get it. A libpq before 16 does not know this.
export PGREQUIREAUTH=$PROOF
export PGUSER=$SUPERUSER PGSSLMODE=$SSLMODE PGCONNECT_TIMEOUT=10 PGPORT=${PGPORT:-$PORT} PGAPPNAME=pointsman PGOPTIONS=$OWN_SESSION
# Databases that belong to PostgreSQL itself.
RESERVED=' postgres template0 template1 '

# sql DATABASE [ARGUMENT]...: psql as the superuser. The name goes by PGDATABASE, since an argument that looks like
# a connection string is taken for one.
sql() {
    PGDATABASE=$1 "$BIN/psql" -XAtq -v ON_ERROR_STOP=1 "${@:2}"
}

# sql_or_refuse WHAT DATABASE [ARGUMENT]...: its answer is on standard output.
sql_or_refuse() {
    sql "${@:2}" 2>"$WORDS" || refuse_in_words_of "$1" "$WORDS"
}

# A name that PostgreSQL would cut or that is not a user's to have.
check_database_name() {
    local bytes
    bytes=$(printf '%s' "$1" | wc -c)
    ((bytes >= 1 && bytes <= 63)) || refuse NAME "the database's name has $bytes bytes and may have 1 to 63"
    [[ $RESERVED != *" $1 "* ]] || refuse NAME "the database $1 belongs to PostgreSQL itself"
}

# The newest by the time in its name, be it a backup or a snapshot.
newest_dump() {
    find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d |
        sed -nE 's/.*\/((backup|snapshot)-[0-9]{8}T[0-9]{6}Z)$/\1/p' | sort -t- -k2 | tail -n 1
}

wait_for_primary() {
    local try recovering=''
    for ((try = 0; try < ${POINTSMAN_PATIENCE:-30}; try++)); do
        recovering=$(sql postgres -c 'SELECT pg_is_in_recovery()' 2>"$WORDS") || true
        case $recovering in
        f) return 0 ;;
        t) refuse NOT_PRIMARY "$PGHOST is a replica" ;;
        esac
        # Another password will not come by waiting.
        ! grep -q 'authentication failed' "$WORDS" || break
        sleep 1 &
        wait $! || true
    done
    refuse NO_ANSWER "$PGHOST: $(tail -n 2 "$WORDS")"
}
