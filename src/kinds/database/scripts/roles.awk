# pg_dumpall's roles, less what a server that the operator runs has of its own; nobody can log in yet. POINTSMAN_EXISTING:
# the roles that are there; POINTSMAN_OWN: the operator's; both one a line, as quote_ident writes them. POINTSMAN_LOGINS: the
# file for the statements that come at the end: they let in who could log in before, and set what is set for all.
# POINTSMAN_STRANGE: the file for the first statement that no pg_dumpall writes of roles; the rest is not read then.
BEGIN {
    count = split(ENVIRON["POINTSMAN_EXISTING"], names, "\n")
    for (i = 1; i <= count; i++) existing[names[i]] = 1
    count = split(ENVIRON["POINTSMAN_OWN"], names, "\n")
    for (i = 1; i <= count; i++) own[names[i]] = 1
}

# Comments, and the commands by which pg_dumpall keeps psql from obeying others; an older psql does not know them.
statement == "" && /^(--.*|\\(un)?restrict [A-Za-z0-9]+)?$/ { next }

# A statement ends with a semicolon outside of quotes; of `mask`, quoted text is hidden. In E'', as quote_literal writes it, a
# backslash stands before another one alone.
{
    if (statement != "") { statement = statement "\n"; mask = mask "\n" }
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (quote == "'" && escapes && c == "\\") {
            if (substr($0, ++i, 1) != "\\") strange = 1
            mask = mask "xx"
            continue
        }
        if (quote == "" && (c == "'" || c == "\"")) {
            # A quote that is doubled goes on with what was begun.
            if (mask !~ /'$/) escapes = mask ~ / E$/
            quote = c
        }
        else if (quote != "" && c == quote) quote = ""
        else if (quote != "") c = "x"
        mask = mask c
    }
    statement = statement $0
    if (quote == "" && mask ~ /;$/) {
        if (!is_of_roles()) exit
        emit()
        statement = mask = ""
    }
}

END {
    if (statement != "") print substr(statement, 1, 80) >ENVIRON["POINTSMAN_STRANGE"]
}

# One statement, of the kinds that pg_dumpall writes; outside of quotes nothing that psql or another dialect of strings heeds.
function is_of_roles() {
    if (mask !~ /^((CREATE|ALTER) ROLE|COMMENT ON ROLE|GRANT|SET (default_transaction_read_only|client_encoding|standard_conforming_strings) =) / &&
        mask !~ /^SECURITY LABEL FOR [^ ]+ ON ROLE /) return 0
    return !strange && mask !~ /;.*;/ && mask !~ /\\/ && mask !~ /(--|\/\*|\$)/ && mask !~ /([^ ]E|[euU]&?)'/
}

function emit(    name, at) {
    if (mask ~ /^(CREATE|ALTER) ROLE / || mask ~ /^COMMENT ON ROLE /) {
        name = word(mask ~ /^COMMENT/ ? 17 : mask ~ /^CREATE/ ? 13 : 12)
        if (name in own) return
        if (mask ~ /^CREATE/ && name in existing) return
        if (mask ~ /^ALTER/ && (at = index(mask, " LOGIN"))) {
            statement = substr(statement, 1, at) "NO" substr(statement, at + 1)
            print "ALTER ROLE " name " LOGIN;" >ENVIRON["POINTSMAN_LOGINS"]
        }
    }
    # It would act on the restore's own sessions.
    if (mask ~ /^ALTER ROLE ALL SET /) {
        print statement >ENVIRON["POINTSMAN_LOGINS"]
        return
    }
    if (mask ~ /^GRANT /) {
        # Who granted it is not there, or is the one who restores.
        if (at = index(mask, " GRANTED BY ")) {
            statement = substr(statement, 1, at - 1) ";"
            mask = substr(mask, 1, at - 1) ";"
        }
        at = index(mask, " TO ")
        if (word(at + 4) in own) return
    }
    print statement
}

# The identifier that begins at a place of the statement.
function word(at,    rest) {
    rest = substr(mask, at)
    if (rest ~ /^"/) match(rest, /^("[^"]*")+/)
    else match(rest, /^[^ ;]+/)
    return substr(statement, at, RLENGTH)
}
