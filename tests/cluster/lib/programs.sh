# Builds each pinned Go program once, into a folder that many clones share.
# shellcheck shell=bash

KUBERNETES_VERSION=v1.34.4

# module folder, program, Go package; the node tier needs all of them.
CONTROL_PLANE_PROGRAMS=(
    "etcd etcd go.etcd.io/etcd/server/v3"
    "kwok kwok sigs.k8s.io/kwok/cmd/kwok"
    "kubernetes kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver"
    "kubernetes kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager"
    "kubernetes kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler"
    "kubernetes kubectl k8s.io/kubernetes/cmd/kubectl"
)
NODE_PROGRAMS=(
    "kubernetes kubelet k8s.io/kubernetes/cmd/kubelet"
    "kubernetes kube-proxy k8s.io/kubernetes/cmd/kube-proxy"
    "coredns coredns github.com/coredns/coredns"
    "local-path-provisioner local-path-provisioner github.com/rancher/local-path-provisioner"
)

programs_of() {
    printf '%s\n' "${CONTROL_PLANE_PROGRAMS[@]}"
    if [[ $1 == node ]]; then
        printf '%s\n' "${NODE_PROGRAMS[@]}"
    fi
}

linker_flags() {
    local version=k8s.io/component-base/version
    printf '%s' "-s -w"
    # Without these the API server reports itself as v0.0.0-master.
    if [[ $1 == kubernetes ]]; then
        printf ' %s' "-X $version.gitVersion=$KUBERNETES_VERSION" \
            "-X $version.gitMajor=1" "-X $version.gitMinor=34"
    fi
}

# The folder's name changes with anything that can change its programs.
program_folder() {
    local module=$1 key
    key=$({
        cat "$PROGRAMS/$module/go.mod" "$PROGRAMS/$module/go.sum"
        linker_flags "$module"
        go_version
    } | sha256sum)
    printf '%s/bin/%s-%s' "$CACHE" "$module" "${key:0:16}"
}

go_version() {
    command -v go >/dev/null || fail "Go is not on PATH; the test bed builds Kubernetes with it"
    (cd / && go env GOVERSION GOARCH)
}

build_program() {
    local module=$1 program=$2 package=$3 folder=$4 started=$EPOCHREALTIME
    # Go keeps what it compiled before, so an interrupted build resumes; the
    # rename lets no half-written program be taken for a finished one.
    printf 'building %-24s' "$program"
    mkdir -p "$folder"
    (cd "$PROGRAMS/$module" &&
        CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off go build -trimpath \
            -ldflags "$(linker_flags "$module")" -o "$folder/.$program.$$" "$package") ||
        fail "$program does not build"
    mv "$folder/.$program.$$" "$folder/$program"
    printf '%6.0f s\n' "$(seconds_since "$started")"
}

build_programs() {
    local module program package folder built=0
    while read -r module program package; do
        folder=$(program_folder "$module")
        if [[ ! -x $folder/$program ]]; then
            build_program "$module" "$program" "$package" "$folder"
            built=$((built + 1))
        fi
    done < <(programs_of "$1")
    if ((built == 0)); then
        echo "programs of the $1 tier: already built"
    fi
}

# What needs no cluster may need one of its programs.
program_path() {
    local module program _
    while read -r module program _; do
        if [[ $program == "$1" ]]; then
            printf '%s/%s\n' "$(program_folder "$module")" "$program"
            return
        fi
    done < <(programs_of node)
    fail "no such program: $1"
}

link_programs() {
    local module program _
    mkdir -p "$BIN"
    while read -r module program _; do
        ln -sfn "$(program_folder "$module")/$program" "$BIN/$program"
    done < <(programs_of "$1")
}
