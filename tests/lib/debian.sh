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
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } \
            </dev/null >/dev/null || { echo "apt-get could not install $*" >&2; return 1; }
    )
}
