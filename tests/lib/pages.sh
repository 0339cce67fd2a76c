# What a run found out, written into the pages that tell it: between two marks, and nowhere else.
# shellcheck shell=bash

# write_between FILE MARK TEXT: the marks are <!-- MARK --> and <!-- MARK ends -->, each on a line of its own.
write_between() {
    local page
    grep -qx "<!-- $2 -->" "$1" || { echo "$1 has no place for $2" >&2; return 1; }
    page=$(awk -v mark="$2" -v text="$3" '
        $0 == "<!-- " mark " ends -->" { inside = 0 }
        !inside
        $0 == "<!-- " mark " -->" { print text; inside = 1 }' "$1")
    printf '%s\n' "$page" >"$1"
}

# read_between FILE MARK
read_between() {
    awk -v mark="$2" '
        $0 == "<!-- " mark " ends -->" { inside = 0 }
        inside
        $0 == "<!-- " mark " -->" { inside = 1 }' "$1"
}

# keep_versions FILE TRIED: a row for each tier that passed, in the place of the last one of these minors and this tier. Lines of TRIED
# are Kubernetes' version, kubectl's, the tier and the number of tests.
keep_versions() {
    local rows
    rows=$({
        read_between "$1" "versions tried" | grep '^| v'
        awk -F'\t' -v day="$(date +%F)" '{ printf "| %s | %s | %s | %d | %s |\n", $1, $2, $3, $4, day }' "$2"
    } | awk -F' *[|] *' '
        function minor(version) { split(version, part, "."); return part[1] "." part[2] }
        { row[minor($2) FS minor($3) FS $4] = $0 }
        END { for (key in row) print row[key] }' | sort -t'|' -k2,2rV -k4,4 -k3,3rV)
    write_between "$1" "versions tried" "| Kubernetes | kubectl | Tier | Tests passed | On |
|---|---|---|---|---|
$rows"
}
