# How all that tests need is compiled. The programs are static, so that what the tests were compiled with is also what runs in
# an image without a file system, and as a process: one build serves every step.
# shellcheck shell=bash

if [ -z "${BASH_VERSION:-}" ]; then
    echo "source this in bash, which knows where it stands" >&2
    return 1
fi
CARGO_BUILD_TARGET=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, these are for it alone: macros and build scripts are compiled as ever.
export CARGO_BUILD_TARGET RUSTFLAGS=-Ctarget-feature=+crt-static
# Shared by every checkout on this machine, so that a fresh clone does not build the world anew.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pointsman/target}

# Cargo goes by times, and takes what another checkout compiled for its own where the files here are older. So they become newer,
# once nothing of that checkout runs any more; and for as long as this shell lives, no other checkout has its turn.
take_target_folder() {
    local checkout last=$CARGO_TARGET_DIR/checkout
    checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
    mkdir -p "$CARGO_TARGET_DIR"
    exec {COMPILES}>"$last.lock"
    if [[ $(cat "$last" 2>/dev/null) != "$checkout" ]]; then
        flock --nonblock "$COMPILES" || {
            echo "waiting for what runs in $(cat "$last"): it has the compiled tests" >&2
            flock "$COMPILES"
        }
        find "$checkout/src" "$checkout/tests" -name '*.rs' -exec touch {} +
        echo "$checkout" >"$last"
    fi
    flock --shared "$COMPILES"
}
take_target_folder

# build_as_tests ARGUMENT...: with one of the tests, cargo takes dependencies as the tests have them, and compiles none twice.
build_as_tests() { cargo build --quiet --locked --test versions "$@"; }

# generate [--check]: prints all that follows from the code, or says whether it is as printed.
generate() {
    build_as_tests --bin generate && "$CARGO_TARGET_DIR/$CARGO_BUILD_TARGET/debug/generate" "$@"
}
