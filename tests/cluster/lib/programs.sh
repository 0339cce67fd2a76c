# Builds each pinned Go program once, into a folder that many clones share.
# shellcheck shell=bash

# The minors that there are modules for, oldest first; the newest where nothing else is asked for.
mapfile -t KUBERNETES_MINORS < <(printf '%s\n' "$PROGRAMS"/kubernetes-* | sed 's/.*kubernetes-//' | sort -V)
KUBERNETES=${KUBERNETES_MINORS[-1]}
# kubectl's own, where it is to be of another minor than the cluster.
KUBECTL=

choose_kubernetes() {
    known_minor "$1"
    KUBERNETES=$1
}

choose_kubectl() {
    known_minor "$1"
    KUBECTL=$1
}

known_minor() {
    [[ -n $1 && -d $PROGRAMS/kubernetes-$1 ]] || fail "no Kubernetes $1 here; there are: ${KUBERNETES_MINORS[*]}"
}

# kubernetes_version MINOR: the patch release of its module.
kubernetes_version() {
    sed -n 's/^.*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$PROGRAMS/kubernetes-$1/go.mod"
}

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
    local programs=("${CONTROL_PLANE_PROGRAMS[@]}")
    [[ $1 != node ]] || programs+=("${NODE_PROGRAMS[@]}")
    programs=("${programs[@]/#kubernetes kubectl /kubernetes-${KUBECTL:-$KUBERNETES} kubectl }")
    printf '%s\n' "${programs[@]/#kubernetes /kubernetes-$KUBERNETES }"
}

linker_flags() {
    local version=k8s.io/component-base/version
    printf '%s' "-s -w"
    # Without these the API server reports itself as v0.0.0-master.
    if [[ $1 == kubernetes-* ]]; then
        printf ' %s' "-X $version.gitVersion=$(kubernetes_version "${1#kubernetes-}")" \
            "-X $version.gitMajor=1" "-X $version.gitMinor=${1##*.}"
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

# build_program MODULE PROGRAM PACKAGE FOLDER
build_program() {
    local module=$1 program=$2 package=$3 folder=$4
    mkdir -p "$folder"
    # Go keeps what it compiled before, so an interrupted build resumes; the
    # rename lets no half-written program be taken for a finished one.
    (
        cd "$PROGRAMS/$module" || exit
        # Go's compiler collects its garbage seldom then, and takes a sixth less of the cores.
        export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOGC=${GOGC:-400}
        go build -trimpath -ldflags "$(linker_flags "$module")" -o "$folder/.$program.$$" "$package" &&
            mv "$folder/.$program.$$" "$folder/$program"
    )
}

missing_programs() {
    local module program package folder
    while read -r module program package; do
        folder=$(program_folder "$module")
        [[ -x $folder/$program ]] || echo "$module $program $package $folder"
    done < <(programs_of "$1")
}

build_programs() {
    local missing module program package folder done=0
    mapfile -t missing < <(missing_programs "$1")
    if ((${#missing[@]} == 0)); then
        echo "programs of the $1 tier: already built"
        return
    fi
    for program in "${missing[@]}"; do
        read -r module program package folder <<<"$program"
        done=$((done + 1))
        watched "building $program of ${module/-/ } ($done of ${#missing[@]})" "build-$module-$program" \
            build_program "$module" "$program" "$package" "$folder"
    done
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
