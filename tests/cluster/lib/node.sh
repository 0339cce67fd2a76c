# The parts of a real node: bridge, containerd, kubelet, kube-proxy, DNS, storage.
# shellcheck shell=bash

# fill TEMPLATE: prints it with every @NAME@ replaced by that setting.
fill() {
    local text name
    text=$(<"$CONFIG/$1")
    while [[ $text =~ @([A-Z_]+)@ ]]; do
        name=${BASH_REMATCH[1]}
        text=${text//"@$name@"/"${!name}"}
    done
    printf '%s\n' "$text"
}

claim_node() {
    mkdir -p "$NODE_STATE" "$NODE_SOCKETS"
    echo "$RUN" >"$NODE_STATE/owner"
}

create_bridge() {
    ip link add "$BRIDGE" type bridge
    ip address add "$BRIDGE_ADDRESS/16" dev "$BRIDGE"
    ip link set "$BRIDGE" up
    echo 1 >/proc/sys/net/ipv4/ip_forward
    # Pods on one bridge would otherwise reach each other past kube-proxy's rules.
    modprobe br_netfilter 2>/dev/null || true
    echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables ||
        fail "this kernel has no br_netfilter; Services between pods need it"
}

write_node_configuration() {
    mkdir -p "$RUN/cni" "$RUN/local-path"
    echo "nameserver $BRIDGE_ADDRESS" >"$RUN/resolv.conf"
    fill cni.conflist >"$RUN/cni/bed.conflist"
    local file
    for file in containerd.toml kubelet.yaml kube-proxy.yaml Corefile; do
        fill "$file" >"$RUN/$file"
    done
    for file in "$CONFIG"/local-path-provisioner/*; do
        fill "local-path-provisioner/${file##*/}" >"$RUN/local-path/${file##*/}"
    done
}

create_node_certificates() {
    issue kubelet "/O=system:nodes/CN=system:node:$NODE_NAME" \
        "IP:$BRIDGE_ADDRESS,DNS:$NODE_NAME"
    issue_kubeconfig node-client "/O=system:nodes/CN=system:node:$NODE_NAME"
    issue_kubeconfig kube-proxy /CN=system:kube-proxy
    issue_kubeconfig coredns /O=system:masters/CN=coredns
    issue_kubeconfig local-path-provisioner /O=system:masters/CN=local-path-provisioner
}

# crun refuses a machine of which some controllers of cgroups stand in the first hierarchy and some in the second: those of the
# second are mounted beside the others until the node is stopped.
join_cgroups() {
    local controllers controller
    controllers=$(cat "$CGROUPS/unified/cgroup.controllers" 2>/dev/null) || return 0
    for controller in $controllers; do
        mkdir -p "$CGROUPS/$controller"
        mount -t cgroup -o "$controller" "$JOINED_CGROUP" "$CGROUPS/$controller" ||
            fail "crun needs the cgroup controller $controller at $CGROUPS/$controller, where it cannot be mounted"
    done
}

start_containerd() {
    # A proxy that is not there: an image that was not loaded fails at once, the
    # same way on every machine, and nothing is ever pulled from outside.
    start_daemon containerd env HTTPS_PROXY=http://127.0.0.1:9 \
        containerd --config "$RUN/containerd.toml"
    wait_until 30 "containerd answers" bed_ctr version
}

start_kubelet() {
    start_daemon kubelet "$BIN/kubelet" \
        --config="$RUN/kubelet.yaml" --kubeconfig="$KUBECONFIGS/node-client" \
        --root-dir="$NODE_STATE/kubelet" --cert-dir="$NODE_STATE/kubelet/pki" \
        --hostname-override="$NODE_NAME" --node-ip="$BRIDGE_ADDRESS"
}

start_storage() {
    bed_kubectl apply -f "$CONFIG/local-path.yaml" >/dev/null
    bed_kubectl -n local-path-storage create configmap local-path-config \
        --from-file="$RUN/local-path" >/dev/null
    # local-path lets no claim grow.
    play_volumes
    start_daemon local-path-provisioner "$BIN/local-path-provisioner" start \
        --config "$RUN/local-path/config.json" \
        --helper-pod-file "$RUN/local-path/helperPod.yaml" \
        --kubeconfig "$KUBECONFIGS/local-path-provisioner" \
        --namespace local-path-storage --configmap-name local-path-config \
        --helper-image "$MEMCACHED_IMAGE"
}

dns_is_ready() (
    exec 3<>"/dev/tcp/$BRIDGE_ADDRESS/8181"
    printf 'GET /ready HTTP/1.0\r\n\r\n' >&3
    grep ' 200 ' <&3
)

proxy_is_ready() {
    iptables -t nat -S KUBE-SERVICES | grep "$API_SERVICE_ADDRESS"
}

start_node_tier() {
    claim_node
    create_bridge
    step "bridge $BRIDGE at $BRIDGE_ADDRESS"
    start_control_plane 0.0.0.0
    create_node_certificates
    write_node_configuration
    join_cgroups
    start_containerd
    load_test_images
    step "containerd has the test images"
    start_kubelet
    start_daemon keep-logs "$BED_HOME/keep-logs" "$NODE_STATE/pod-logs" "$NODE_STATE/kept-logs"
    start_daemon kube-proxy "$BIN/kube-proxy" --config "$RUN/kube-proxy.yaml"
    start_daemon coredns "$BIN/coredns" -conf "$RUN/Corefile"
    start_storage
    finish_control_plane
    wait_until 30 "DNS answers" dns_is_ready
    wait_until 30 "Services are reachable" proxy_is_ready
    step "DNS, Services and storage at work"
}
