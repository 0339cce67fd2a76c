# Names, folders, ports and addresses; sourced first, starts nothing.
# shellcheck shell=bash disable=SC2034,SC2153

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/pointsman
REPOSITORY=${BED_HOME%/tests/cluster}
PROGRAMS=$BED_HOME/programs
CONFIG=$BED_HOME/config

# Two beds side by side need two names and two port offsets.
BED_NAME=${POINTSMAN_BED:-main}
OFFSET=${POINTSMAN_BED_OFFSET:-0}
RUN=$CACHE/run/$BED_NAME
API_PORT=$((16443 + OFFSET))
ETCD_PORT=$((12379 + OFFSET))
ETCD_PEER_PORT=$((12380 + OFFSET))
METRICS_PORT=$((8080 + OFFSET))
HEALTH_PORT=$((8090 + OFFSET))
# Where an operator that is a process listens: a second bed's runs beside the first's.
WEBHOOK_PORT=$((9443 + OFFSET))

# Where etcd and the API server write.
# shellcheck source=/dev/null
source "$REPOSITORY/tests/lib/memory.sh"
FAST=$(folder_in_memory)
FAST=${FAST:+$FAST/pointsman-$UID${RUN//\//-}}
FAST=${FAST:-$RUN}

BIN=$RUN/bin
LOGS=$RUN/logs
PIDS=$RUN/pids
PKI=$RUN/pki
KUBECONFIGS=$RUN/kubeconfig
ADMIN_KUBECONFIG=$KUBECONFIGS/admin
AUDIT_LOG=$FAST/audit.log
KUBECTL_CACHE=$FAST/kubectl-cache

# The API server refuses to publish a loopback address as the endpoint of the
# `kubernetes` Service. The node tier puts this one on its bridge; in the
# control-plane tier no pod is real, so nothing ever dials it.
BRIDGE_ADDRESS=10.85.0.1
POD_NETWORK=10.85.0.0/16
SERVICE_NETWORK=10.96.0.0/16
API_SERVICE_ADDRESS=10.96.0.1
BRIDGE=pointsman0

# Once per machine: bridge, iptables and the containers' mounts are the
# machine's, and a unix socket's path may have at most 107 bytes.
NODE_STATE=/var/lib/pointsman-bed
NODE_SOCKETS=/run/pointsman-bed
CONTAINERD_SOCKET=$NODE_SOCKETS/containerd.sock
NODE_NAME=bed-node
CGROUPS=/sys/fs/cgroup
# What a controller that the bed mounted is called among the machine's mounts.
JOINED_CGROUP=pointsman-bed
