# How all that tests need is compiled. The programs are static, so that what the tests were compiled with is also what runs in
# an image without a file system, and as a process: one build serves every step.
# shellcheck shell=bash

CARGO_BUILD_TARGET=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, these are for it alone: macros and build scripts are compiled as ever.
export CARGO_BUILD_TARGET RUSTFLAGS=-Ctarget-feature=+crt-static
# Shared by every checkout on this machine, so that a fresh clone does not build the world anew.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pointsman/target}

# forget_other_checkouts FOLDER: cargo goes by times, and takes what another checkout compiled for its own where the files here
# are older. So they become newer.
forget_other_checkouts() {
    local checkout=$1
    [[ $(cat "$CARGO_TARGET_DIR/checkout" 2>/dev/null) != "$checkout" ]] || return 0
    mkdir -p "$CARGO_TARGET_DIR"
    find "$checkout/src" "$checkout/tests" -name '*.rs' -exec touch {} +
    echo "$checkout" >"$CARGO_TARGET_DIR/checkout"
}

# build_as_tests ARGUMENT...: with one of the tests, cargo takes dependencies as the tests have them, and compiles none twice.
build_as_tests() { cargo build --quiet --locked --test versions "$@"; }

# generate [--check]: prints all that follows from the code, or says whether it is as printed.
generate() {
    build_as_tests --bin generate && "$CARGO_TARGET_DIR/$CARGO_BUILD_TARGET/debug/generate" "$@"
}
