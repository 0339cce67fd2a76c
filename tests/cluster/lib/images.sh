# Container images built from Debian packages instead of pulled.
# shellcheck shell=bash disable=SC2015

IMAGES=$BED_HOME/images
PAUSE_IMAGE=localhost/pause:bed
MEMCACHED_IMAGE=docker.io/library/memcached:1.6
# The same content under a second name: a changed image that still starts.
MEMCACHED_SECOND_TAG=docker.io/library/memcached:1.6.38

# The folder's name changes with the recipes.
image_folder() {
    local key
    key=$(cd "$IMAGES" && find . -type f -print0 | sort -z |
        xargs -0 sha256sum | sha256sum)
    printf '%s/images/%s' "$CACHE" "${key:0:16}"
}

build_images() {
    local folder image
    folder=$(image_folder)
    if [[ -f $folder/pause.tar && -f $folder/memcached.tar ]]; then
        echo "test images: already built"
        return
    fi
    ((EUID == 0)) || fail "test images need root to build"
    install_packages node
    mkdir -p "$folder"
    for image in pause memcached; do
        [[ -f $folder/$image.tar ]] || build_test_image "$image" "$folder/$image.tar"
    done
}

# build_test_image NAME OUT.tar: in a scratch folder that is gone afterwards.
build_test_image() (
    started=$EPOCHREALTIME
    scratch=$(mktemp -d "$CACHE/images/.building.XXXXXX")
    trap 'rm -rf --one-file-system "$scratch"' EXIT
    trap 'exit 130' INT TERM
    printf 'image %-27s' "$1"
    cp "$IMAGES/$1"/* "$scratch/"
    if ! { (cd "$scratch" && ./prepare) && build_image "$scratch/Dockerfile" \
        "$scratch" "$(image_name "$1")" "$2"; } >"$scratch/log" 2>&1; then
        tail -n 15 "$scratch/log" >&2
        fail "the $1 image does not build"
    fi
    printf '%6.0f s\n' "$(seconds_since "$started")"
)

image_name() {
    case $1 in
    pause) echo "$PAUSE_IMAGE" ;;
    memcached) echo "$MEMCACHED_IMAGE" ;;
    esac
}

# build_image DOCKERFILE CONTEXT NAME OUT.tar: in a store of its own, so that
# the user's images stay as they are.
build_image() (
    [[ $# -eq 4 ]] || fail "image-build needs DOCKERFILE CONTEXT NAME OUT.tar"
    mkdir -p "$(dirname "$4")"
    store=$(mktemp -d "$(dirname "$4")/.building.XXXXXX")
    trap 'rm -rf "$store"' EXIT
    trap 'exit 130' INT TERM
    in_image_store "$store" bud --quiet --file "$1" --tag "$3" "$2" >/dev/null &&
        in_image_store "$store" push --quiet "$3" "docker-archive:$store/image.tar:$3" >/dev/null ||
        fail "buildah could not build $3"
    mv "$store/image.tar" "$4"
)

in_image_store() {
    BUILDAH_ISOLATION=chroot buildah --storage-driver vfs \
        --root "$1/root" --runroot "$1/run" "${@:2}"
}

load_image() {
    [[ -f ${1:-} ]] || fail "image-load needs a docker archive"
    bed_ctr images import "$1" >/dev/null || fail "containerd did not take $1"
}

bed_ctr() {
    ctr --address "$CONTAINERD_SOCKET" --namespace k8s.io "$@"
}

load_test_images() {
    local folder
    folder=$(image_folder)
    load_image "$folder/pause.tar"
    load_image "$folder/memcached.tar"
    bed_ctr images tag "$MEMCACHED_IMAGE" "$MEMCACHED_SECOND_TAG" >/dev/null
}
