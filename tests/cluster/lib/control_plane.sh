# etcd, API server, controller manager, scheduler and kwok as plain processes.
# shellcheck shell=bash

# A folder of definitions of kinds, where the cluster is to know some from its start.
DEFINITIONS=

choose_definitions() {
    [[ -d $1 ]] || fail "no folder of definitions: $1"
    DEFINITIONS=$1
}

bed_kubectl() {
    "$BIN/kubectl" --kubeconfig "$ADMIN_KUBECONFIG" --cache-dir "$KUBECTL_CACHE" "$@"
}

start_etcd() {
    start_daemon etcd "$BIN/etcd" \
        --data-dir "$FAST/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "http://127.0.0.1:$ETCD_PORT" \
        --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
        --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
        --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
        --initial-cluster "default=http://127.0.0.1:$ETCD_PEER_PORT"
}

# start_api_server LISTEN_ADDRESS
start_api_server() {
    local audit=(
        --audit-policy-file="$CONFIG/audit-policy.yaml"
        --audit-log-path="$AUDIT_LOG"
        --audit-log-format=json
        # Megabytes: a test that counts lines must never meet a rotated file.
        --audit-log-maxsize=100000
    )
    local identity=(
        --tls-cert-file="$PKI/api-server.crt"
        --tls-private-key-file="$PKI/api-server.key"
        --client-ca-file="$PKI/ca.crt"
        --service-account-issuer=https://kubernetes.default.svc.cluster.local
        --service-account-key-file="$PKI/service-accounts.key"
        --service-account-signing-key-file="$PKI/service-accounts.key"
        --kubelet-client-certificate="$PKI/kubelet-client.crt"
        --kubelet-client-key="$PKI/kubelet-client.key"
        --kubelet-certificate-authority="$PKI/ca.crt"
        # The node's name is in no DNS, and logs and exec would look it up.
        --kubelet-preferred-address-types=InternalIP
    )
    # Many a cluster has policies that change what is written.
    local policies=(
        --feature-gates=MutatingAdmissionPolicy=true
        --runtime-config=admissionregistration.k8s.io/v1beta1=true
    )
    start_daemon kube-apiserver "$BIN/kube-apiserver" \
        --etcd-servers="http://127.0.0.1:$ETCD_PORT" \
        --bind-address="$1" --secure-port="$API_PORT" \
        --advertise-address="$BRIDGE_ADDRESS" \
        --service-cluster-ip-range="$SERVICE_NETWORK" \
        --authorization-mode=Node,RBAC \
        --enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement \
        --allow-privileged=true "${identity[@]}" "${audit[@]}" "${policies[@]}"
}

# The default client limits would make a test of a thousand objects measure them.
FAST_CLIENT=(--kube-api-qps=300 --kube-api-burst=600)

start_controller_manager() {
    # The grace period is long because a busy machine misses heartbeats, and
    # pods of a node that is taken for lost turn unready.
    start_daemon kube-controller-manager "$BIN/kube-controller-manager" \
        --controllers="*,-endpoints-controller,-endpointslice-mirroring-controller" \
        --kubeconfig="$KUBECONFIGS/kube-controller-manager" \
        --authentication-kubeconfig="$KUBECONFIGS/kube-controller-manager" \
        --authorization-kubeconfig="$KUBECONFIGS/kube-controller-manager" \
        --secure-port=0 --leader-elect=false \
        --use-service-account-credentials=true \
        --service-account-private-key-file="$PKI/service-accounts.key" \
        --root-ca-file="$PKI/ca.crt" \
        --node-monitor-grace-period=10m \
        --horizontal-pod-autoscaler-sync-period=5s \
        --concurrent-deployment-syncs=20 --concurrent-replicaset-syncs=20 \
        "${FAST_CLIENT[@]}"
}

start_scheduler() {
    start_daemon kube-scheduler "$BIN/kube-scheduler" \
        --kubeconfig="$KUBECONFIGS/kube-scheduler" \
        --authentication-kubeconfig="$KUBECONFIGS/kube-scheduler" \
        --authorization-kubeconfig="$KUBECONFIGS/kube-scheduler" \
        --secure-port=0 --leader-elect=false "${FAST_CLIENT[@]}"
}

start_fake_nodes() {
    start_daemon kwok "$BIN/kwok" \
        --kubeconfig="$KUBECONFIGS/kwok" --config="$CONFIG/kwok.yaml"
    bed_kubectl apply -f "$CONFIG/fake-nodes.yaml" >/dev/null
}

# Makes volumes, where no node does, and lets them grow.
play_volumes() {
    start_daemon volumes env KUBECONFIG="$ADMIN_KUBECONFIG" KUBECACHEDIR="$KUBECTL_CACHE" PATH="$BIN:$PATH" \
        "$BED_HOME/volumes" "https://127.0.0.1:$API_PORT" "$PKI"
}

nodes_are_ready() {
    [[ -n $(bed_kubectl get nodes -o name) ]] &&
        bed_kubectl wait --for=condition=Ready nodes --all --timeout=1s
}

# start_control_plane LISTEN_ADDRESS
start_control_plane() {
    create_certificates
    step "certificates made"
    start_etcd
    start_api_server "$1"
    wait_until 60 "the API server is ready" bed_kubectl get --raw /readyz
    step "API server ready at https://127.0.0.1:$API_PORT"
    # The garbage collector asks for new kinds every 30 s: these it knows from its start.
    [[ -z $DEFINITIONS ]] || bed_kubectl apply -f "$DEFINITIONS" >/dev/null
    start_controller_manager
    start_scheduler
}

finish_control_plane() {
    wait_until 60 "every node is Ready" nodes_are_ready
    step "nodes ready: $(bed_kubectl get nodes -o name | tr '\n' ' ')"
    wait_until 60 "the default service account exists" \
        bed_kubectl -n default get serviceaccount default
    wait_until 60 "the cluster's CA is published to pods" \
        bed_kubectl -n default get configmap kube-root-ca.crt
    step "controllers at work"
}
