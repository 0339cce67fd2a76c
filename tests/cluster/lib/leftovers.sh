# Removes every trace of a bed, of a finished, a failed or a killed one alike.
# shellcheck shell=bash

stop_everything() {
    stop_daemons operator operator-second volumes
    if ((EUID == 0)) && [[ -d $NODE_STATE ]] && owns_the_node; then
        stop_node
    fi
    stop_daemons kwok kube-scheduler kube-controller-manager kube-apiserver
    stop_daemons etcd
    rm -rf "${FAST:?}/etcd" "$AUDIT_LOG"
    [[ $FAST == "$RUN" ]] || rm -rf "${FAST:?}"
    find "$RUN" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf {} + 2>/dev/null || true
}

# A second bed's control plane must not take the first one's node away.
owns_the_node() {
    local owner
    owner=$(cat "$NODE_STATE/owner" 2>/dev/null) || return 0
    [[ $owner == "$RUN" || ! -d $owner ]]
}

stop_node() {
    # The kubelet first: it would start again what is stopped below.
    stop_daemons kubelet
    stop_daemons local-path-provisioner coredns kube-proxy
    stop_containers
    remove_shim_sockets
    stop_daemons containerd keep-logs
    unmount_below "$NODE_STATE"
    unmount_below "$NODE_SOCKETS"
    remove_cgroups
    remove_network
    find /var/log/containers -lname "$NODE_STATE/*" -delete 2>/dev/null || true
    rm -rf --one-file-system "$NODE_SOCKETS" "$NODE_STATE"
}

# Through the shims, not through containerd, which may be the one that was killed.
stop_containers() {
    local shim
    for shim in $(shims); do
        # A container's first process takes the rest of its process space along.
        children_of "$shim" | kill_all
    done
    shims | kill_all
}

# They lie outside our folders, under names that only their shims knew.
remove_shim_sockets() {
    { cat "$NODE_SOCKETS"/containerd/io.containerd.runtime.v2.task/k8s.io/*/address 2>/dev/null || true; } |
        sed 's|unix://|\n|g' | xargs --no-run-if-empty rm -f
}

shims() {
    local folder
    for folder in /proc/[0-9]*; do
        [[ $(readlink "$folder/exe") == *containerd-shim* ]] || continue
        ! grep -qasF "$CONTAINERD_SOCKET" "$folder/cmdline" || echo "${folder##*/}"
    done
}

children_of() {
    cat "/proc/$1/task/"*/children 2>/dev/null || true
}

kill_all() {
    xargs --no-run-if-empty kill -KILL 2>/dev/null || true
}

# Deepest first.
unmount_below() {
    local point
    while read -r point; do
        umount -l "$point" 2>/dev/null || true
    done < <(awk -v folder="$1/" 'index($5, folder) == 1 { print $5 }' \
        /proc/self/mountinfo | sort -r)
}

remove_cgroups() {
    local group
    for group in "$CGROUPS"/kubepods "$CGROUPS"/*/kubepods "$CGROUPS"/*/k8s.io; do
        [[ -d $group ]] || continue
        # Only empty ones can be removed, so another's are safe.
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
    awk -v source="$JOINED_CGROUP" '$1 == source { print $2 }' /proc/self/mounts | while read -r group; do
        umount "$group" 2>/dev/null && rmdir "$group" 2>/dev/null || true
    done
}

remove_network() {
    local proxy
    proxy=$BIN/kube-proxy
    # The run's folder may be gone, and any minor's knows how.
    [[ -x $proxy ]] || proxy=$(program_folder "kubernetes-$KUBERNETES")/kube-proxy
    if [[ -x $proxy ]]; then
        "$proxy" --cleanup >/dev/null 2>&1 || true
        remove_firewall_chain
    fi
    ip link delete "$BRIDGE" 2>/dev/null || true
    # Each result names the network namespace it was for.
    { grep -lsF "$NODE_SOCKETS" /var/lib/cni/results/* || true; } |
        xargs --no-run-if-empty rm -f
}

# kube-proxy makes it and leaves it, because a kubelet might share it.
remove_firewall_chain() {
    local program rule
    for program in iptables ip6tables; do
        for rule in "-D INPUT -j" "-D OUTPUT -j" -F -X; do
            # shellcheck disable=SC2086
            "$program" -w $rule KUBE-FIREWALL 2>/dev/null || true
        done
    done
}
