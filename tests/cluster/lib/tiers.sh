# The verbs: build, up, down, status, env; and which tier.
# shellcheck shell=bash

# Why this machine cannot run a node; nothing when it can.
obstacle_to_a_node() {
    if [[ $(uname -s) != Linux ]]; then
        echo "this is not Linux"
    elif ((EUID != 0)); then
        echo "a node needs root"
    elif ! has_capabilities 12 21; then
        echo "this root may neither change the network nor mount (a container?)"
    elif [[ ! -w $CGROUPS/cgroup.procs && ! -w $CGROUPS/memory ]]; then
        echo "$CGROUPS cannot be written, where containers get their groups"
    elif [[ ! -e /proc/sys/net/bridge ]] && command -v modprobe >/dev/null && ! modprobe --dry-run br_netfilter 2>/dev/null; then
        echo "this kernel has no br_netfilter, without which Services between pods fail"
    elif [[ -n $(another_kubelet) ]]; then
        echo "another Kubernetes runs here: $(another_kubelet)"
    elif [[ -n $(missing_packages node) ]] && ! command -v apt-get >/dev/null; then
        echo "there is no apt-get to install $(missing_packages node)"
    fi
}

# A node of somebody else's: ours would take its network rules away when it ends.
another_kubelet() {
    local folder program
    for folder in /proc/[0-9]*; do
        program=$(readlink "$folder/exe") || continue
        case $program in
        */pointsman/*) ;;
        */kubelet | */k3s | */k0s) echo "$program" && return ;;
        esac
    done
}

# By number: 12 is CAP_NET_ADMIN, 21 is CAP_SYS_ADMIN.
has_capabilities() {
    local held bit
    held=$((16#$(awk '/^CapEff/ { print $2 }' /proc/self/status)))
    for bit in "$@"; do
        ((held >> bit & 1)) || return 1
    done
}

# choose_tier WISH: prints the tier; says why on standard error.
choose_tier() {
    local obstacle
    case $1 in
    control-plane | existing) echo "$1" ;;
    node)
        obstacle=$(obstacle_to_a_node)
        [[ -z $obstacle ]] || fail "the node tier cannot run here: $obstacle"
        echo node
        ;;
    auto)
        obstacle=$(obstacle_to_a_node)
        if [[ -z $obstacle ]]; then
            echo "tier: node, the best there is; this machine allows it" >&2
            echo node
        else
            echo "tier: control-plane, because $obstacle" >&2
            echo control-plane
        fi
        ;;
    *) fail "no such tier: $1 (control-plane, node, existing or auto)" ;;
    esac
}

# One up or down at a time; the lock goes with this process, however it ends.
take_turn() {
    mkdir -p "$CACHE/run"
    exec {turn}>"$CACHE/run/.$BED_NAME.lock"
    flock -w 900 "$turn" || fail "another bed command has been running for 15 minutes"
}

undo_unfinished_up() {
    local status=$?
    trap - EXIT INT TERM
    [[ $status -eq 0 ]] && return
    # Standard error may be the one of the command that was interrupted.
    echo "bed: stopping what was started; the logs stay in $LOGS" >&"$terminal"
    stop_everything
    exit "$status"
}

build() {
    local tier
    tier=$(choose_tier "$1")
    build_programs "$tier"
}

# What a newcomer waits for; the minutes are those of two cores.
plan() {
    local tier programs program images=() name seconds=0
    tier=$(choose_tier "$1" 2>/dev/null)
    [[ $tier != existing ]] || return 0
    [[ $tier != node ]] || owns_the_node ||
        fail "this machine's one node belongs to the bed in $(<"$NODE_STATE/owner"); to end it there: tests/cluster/bed down"
    go_version >/dev/null
    mapfile -t programs < <(missing_programs "$tier")
    for program in "${programs[@]}"; do
        case $program in
        *" kube-apiserver "*) seconds=$((seconds + 500)) ;;
        *" kube-controller-manager "* | *" kwok "* | *" etcd "*) seconds=$((seconds + 150)) ;;
        *) seconds=$((seconds + 60)) ;;
        esac
    done
    if [[ $tier == node ]]; then
        for name in "${DEFAULT_IMAGES[@]}"; do
            [[ -f $(image_archive "$name") ]] || images+=("$name")
        done
        # Beside the programs, where there are any.
        ((${#programs[@]})) || seconds=$((60 * ${#images[@]}))
    fi
    ((seconds == 0)) || printf 'once for all checkouts, %d programs and %d test images are built, in about %d minutes\n' \
        "${#programs[@]}" "${#images[@]}" $((seconds / 60 + 1))
}

up() {
    local tier
    tier=$(choose_tier "$1")
    if [[ $tier == existing ]]; then
        take_existing
        return
    fi
    take_turn
    ! [[ -f $RUN/stays ]] || ! is_running kube-apiserver ||
        fail "the cluster of bed $BED_NAME is up and was told to stay; to end it: tests/cluster/bed down"
    install_packages "$tier"
    build_programs "$tier"
    if [[ $tier == node ]]; then
        build_images
    fi
    [[ $tier != node ]] || owns_the_node ||
        fail "this machine's one node belongs to the bed in $(<"$NODE_STATE/owner")"
    restart_clock
    exec {terminal}>&2
    trap undo_unfinished_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    stop_everything
    rm -rf "$RUN"
    mkdir -p "$RUN" "$FAST"
    step "nothing of an earlier run is left"
    link_programs "$tier"
    "start_${tier//-/_}_tier"
    echo "$tier" >"$RUN/tier"
    trap - EXIT INT TERM
    step "$tier tier of Kubernetes $(kubernetes_version "$KUBERNETES") is up: export KUBECONFIG=$ADMIN_KUBECONFIG"
}

# A cluster that somebody else runs. One that knows our kind already is not ours to try things on.
take_existing() {
    command -v kubectl >/dev/null || fail "the existing tier needs kubectl"
    [[ -f ${KUBECONFIG:-} ]] || fail "the existing tier needs a cluster: set KUBECONFIG to the file of an administrator"
    kubectl get namespace default >/dev/null || fail "the cluster of $KUBECONFIG does not answer"
    [[ -z $(kubectl get --ignore-not-found --output name --filename "$REPOSITORY/deploy/install.yaml") ]] ||
        fail "the cluster of $KUBECONFIG has something of deploy/install.yaml already; nothing was touched"
    local theirs
    theirs=$(kubectl config view --raw --flatten --minify)
    take_turn
    stop_everything
    rm -rf "$RUN"
    mkdir -p "$KUBECONFIGS" "$BIN"
    (umask 077 && echo "$theirs" >"$ADMIN_KUBECONFIG")
    ln -s "$(command -v kubectl)" "$BIN/kubectl"
    echo existing >"$RUN/tier"
    echo "existing tier: the cluster of $KUBECONFIG"
}

# Only what was installed there; the definitions take along the objects that were made since.
leave_existing() {
    [[ -f $RUN/tier && $(<"$RUN/tier") == existing && -f $RUN/operator-flags ]] || return 0
    local theirs=("$BIN/kubectl" --kubeconfig "$ADMIN_KUBECONFIG")
    "${theirs[@]}" annotate --overwrite --filename "$REPOSITORY/crds" pointsman.dev/deletable=true
    "${theirs[@]}" delete --ignore-not-found --filename "$REPOSITORY/deploy/install.yaml"
}

start_control_plane_tier() {
    start_control_plane 127.0.0.1
    start_fake_nodes
    bed_kubectl apply -f "$CONFIG/played-storage.yaml" >/dev/null
    play_volumes
    finish_control_plane
}

down() {
    take_turn
    leave_existing
    stop_everything
    rm -rf "$RUN" "$FAST"
    echo "bed $BED_NAME is down"
}

# A cluster that somebody works with: no later `up` takes its place.
stay() {
    [[ -f $RUN/tier ]] || fail "bed $BED_NAME is not up"
    touch "$RUN/stays"
}

status() {
    local name
    if [[ ! -f $RUN/tier ]]; then
        echo "bed $BED_NAME is down"
    else
        echo "bed $BED_NAME: $(<"$RUN/tier") tier, kubeconfig $ADMIN_KUBECONFIG"
    fi
    for name in $(recorded_daemons); do
        if is_running "$name"; then
            printf '  %-24s running, process %s\n' "$name" "$(cut -d' ' -f1 "$PIDS/$name")"
        else
            printf '  %-24s ENDED, see %s\n' "$name" "$LOGS/$name.log"
        fi
    done
}

print_environment() {
    [[ -f $RUN/tier ]] || fail "bed $BED_NAME is not up"
    printf 'export %s=%q\n' \
        KUBECONFIG "$ADMIN_KUBECONFIG" \
        KUBECACHEDIR "$KUBECTL_CACHE" \
        POINTSMAN_TIER "$(<"$RUN/tier")" \
        POINTSMAN_AUDIT_LOG "$AUDIT_LOG" \
        POINTSMAN_ETCD "http://127.0.0.1:$ETCD_PORT" \
        POINTSMAN_METRICS "http://127.0.0.1:$METRICS_PORT/metrics" \
        POINTSMAN_HEALTH "http://127.0.0.1:$HEALTH_PORT" \
        POINTSMAN_WEBHOOK_PORT "$WEBHOOK_PORT" \
        POINTSMAN_RUN "$RUN" \
        POINTSMAN_BIN "$BIN"
    # shellcheck disable=SC2016
    printf 'export PATH=%q:$PATH\n' "$BIN"
}
