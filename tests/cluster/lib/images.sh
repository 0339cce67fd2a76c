# Container images built from Debian packages instead of pulled.
# shellcheck shell=bash disable=SC2015

IMAGES=$BED_HOME/images
PAUSE_IMAGE=localhost/pause:bed
MEMCACHED_IMAGE=docker.io/library/memcached:1.6
# The same content under a second name: a changed image that still starts.
MEMCACHED_SECOND_TAG=docker.io/library/memcached:1.6.38

# Of every node tier. The others are built when `images` names them: postgres-15-main and postgres-15-security.
DEFAULT_IMAGES=(pause memcached postgres-17)

# NAME is a recipe, or a recipe and one of its variants.
image_recipe() {
    echo "${1%%-*}"
}

# The folder's name changes with the recipe.
image_folder() {
    local recipe key
    recipe=$(image_recipe "$1")
    [[ -x $IMAGES/$recipe/prepare ]] || fail "no test image is called $1"
    key=$(cd "$IMAGES/$recipe" && find . -type f -print0 | sort -z |
        xargs -0 sha256sum | sha256sum)
    printf '%s/images/%s-%s' "$CACHE" "$recipe" "${key:0:16}"
}

# build_images [NAME]...: the default ones where none is named.
build_images() {
    local name archive built=0
    [[ $# -gt 0 ]] || set -- "${DEFAULT_IMAGES[@]}"
    for name in "$@"; do
        archive=$(image_archive "$name")
        [[ -f $archive ]] && continue
        ((EUID == 0)) || fail "test images need root to build"
        install_packages node
        mkdir -p "$(dirname "$archive")"
        # Whoever needs the same one meanwhile waits for it.
        exec {turn}>"$archive.lock"
        flock "$turn"
        [[ -f $archive ]] || build_test_image "$name" "$archive"
        exec {turn}>&-
        built=1
    done
    ((built)) || echo "test images: already built"
}

image_archive() {
    local folder
    folder=$(image_folder "$1")
    echo "$folder/$1.tar"
}

# build_test_image NAME OUT.tar: in a scratch folder that is gone afterwards.
build_test_image() (
    recipe=$(image_recipe "$1")
    variant=${1#"$recipe"}
    scratch=$(mktemp -d "$CACHE/images/.building.XXXXXX")
    trap 'rm -rf --one-file-system "$scratch"' EXIT
    trap 'exit 130' INT TERM
    cp "$IMAGES/$recipe"/* "$scratch/"
    watched "building the test image $1" "image-$1" prepare_and_build "$@"
)

prepare_and_build() {
    (cd "$scratch" && ./prepare ${variant:+"${variant#-}"}) &&
        build_image "$scratch/Dockerfile" "$scratch" "$(image_name "$1" "$scratch")" "$2"
}

# image_name NAME SCRATCH: a recipe may find out only while it builds.
image_name() {
    case $1 in
    pause) echo "$PAUSE_IMAGE" ;;
    memcached) echo "$MEMCACHED_IMAGE" ;;
    *) cat "$2/name" ;;
    esac
}

# image_root NAME: unpacks the image beside its archive, for tests that run its programs without a container, and
# prints where. Images are built from nothing here, so no layer hides a file of another.
image_root() (
    build_images "$1" >&2
    archive=$(image_archive "$1")
    root=${archive%.tar}.root
    exec {turn}>"$root.lock"
    flock "$turn"
    if [[ ! -d $root ]]; then
        rm -rf "$root.part"
        mkdir -p "$root.part"
        tar -xOf "$archive" manifest.json | grep -o '[0-9a-f]*\(/layer\)\?\.tar"' | tr -d '"' |
            while read -r layer; do tar -xOf "$archive" "$layer" | tar -xf - -C "$root.part"; done
        mv "$root.part" "$root"
    fi
    echo "$root"
)

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
    local name
    for name in "${DEFAULT_IMAGES[@]}"; do
        load_image "$(image_archive "$name")"
    done
    bed_ctr images tag "$MEMCACHED_IMAGE" "$MEMCACHED_SECOND_TAG" >/dev/null
}
