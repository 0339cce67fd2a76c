# Debian packages that a tier needs.
# shellcheck shell=bash

# shellcheck source=/dev/null
source "$REPOSITORY/tests/lib/debian.sh"

NODE_PACKAGES=(
    openssl containerd crun containernetworking-plugins iptables conntrack
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
    local missing
    missing=$(missing_packages "$1")
    # shellcheck disable=SC2086
    [[ -z $missing ]] || install_debian_packages $missing || fail "the $1 tier cannot start"
}
