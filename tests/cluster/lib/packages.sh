# Debian packages that a tier needs: installed as root, named otherwise.
# shellcheck shell=bash

NODE_PACKAGES=(
    openssl containerd runc containernetworking-plugins iptables conntrack
    iproute2 kmod debootstrap debian-archive-keyring buildah gcc libc6-dev
)

# missing_packages TIER
missing_packages() {
    if [[ $1 == control-plane ]]; then
        command -v openssl >/dev/null || echo openssl
        return
    fi
    { dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${NODE_PACKAGES[@]}" 2>/dev/null || true; } |
        awk -v wanted="${NODE_PACKAGES[*]}" '
            $2 == "installed" { have[$1] }
            END {
                count = split(wanted, names, " ")
                for (i = 1; i <= count; i++) if (!(names[i] in have)) printf "%s ", names[i]
            }'
}

install_packages() {
    local missing started=$EPOCHREALTIME
    missing=$(missing_packages "$1")
    [[ -n $missing ]] || return 0
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        fail "the $1 tier needs these Debian packages, and only root can install them: $missing"
    fi
    echo "installing $missing"
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing; } </dev/null >/dev/null ||
        fail "apt-get could not install $missing"
    echo "installed in $(seconds_since "$started") s"
}
