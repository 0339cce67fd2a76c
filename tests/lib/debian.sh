# Debian packages that something here needs: installed as root, named otherwise.
# shellcheck shell=bash

# install_debian_packages NAME...: one at a time, whoever asks.
install_debian_packages() {
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        echo "these Debian packages are missing, and only root can install them: $*" >&2
        return 1
    fi
    echo "installing $*"
    (
        exec {turn}>/tmp/pointsman-packages.lock
        flock "$turn"
        export DEBIAN_FRONTEND=noninteractive
        without_a_lock apt-get update -qq && without_a_lock apt-get install -y -qq --no-install-recommends "$@" ||
            { echo "apt-get could not install $*" >&2; return 1; }
    )
}

# without_a_lock COMMAND...: another installation of Debian packages may go on, as after the start of a machine.
without_a_lock() {
    local try said
    for ((try = 0; try < 60; try++)); do
        ! said=$("$@" </dev/null 2>&1 >/dev/null) || return 0
        [[ $said == *"Could not get lock"* ]] || break
        sleep 10
    done
    echo "$said" >&2
    return 1
}
