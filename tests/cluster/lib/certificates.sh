# One certificate authority per start, a leaf and a kubeconfig per program.
# shellcheck shell=bash

new_key() {
    openssl ecparam -genkey -name prime256v1 -noout -out "$PKI/$1.key" 2>/dev/null
}

create_authority() {
    mkdir -p "$PKI" "$KUBECONFIGS"
    chmod 700 "$PKI" "$KUBECONFIGS"
    new_key ca
    openssl req -x509 -new -key "$PKI/ca.key" -subj /CN=pointsman-bed -days 30 \
        -addext keyUsage=critical,keyCertSign,digitalSignature -out "$PKI/ca.crt"
    new_key service-accounts
}

# issue NAME SUBJECT [SUBJECT_ALTERNATIVE_NAMES]
issue() {
    local name=$1 subject=$2 names=${3:-DNS:$1}
    new_key "$name"
    openssl req -new -key "$PKI/$name.key" -subj "$subject" |
        openssl x509 -req -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" \
            -set_serial "0x$(openssl rand -hex 8)" -days 30 -extfile <(
                echo "keyUsage=critical,digitalSignature"
                echo "extendedKeyUsage=serverAuth,clientAuth"
                echo "subjectAltName=$names"
            ) -out "$PKI/$name.crt" 2>/dev/null
}

# issue_kubeconfig NAME SUBJECT: the subject is the user (CN) and group (O)
# that role bindings and the audit log see.
issue_kubeconfig() {
    local name=$1 subject=$2
    issue "$name" "$subject"
    cat >"$KUBECONFIGS/$name" <<EOF
apiVersion: v1
kind: Config
current-context: bed
contexts: [{name: bed, context: {cluster: bed, user: $name}}]
clusters:
- name: bed
  cluster:
    server: https://127.0.0.1:$API_PORT
    certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
- name: $name
  user:
    client-certificate-data: $(base64 -w0 "$PKI/$name.crt")
    client-key-data: $(base64 -w0 "$PKI/$name.key")
EOF
}

create_certificates() {
    create_authority
    issue api-server /CN=kube-apiserver \
        "IP:127.0.0.1,IP:$BRIDGE_ADDRESS,IP:$API_SERVICE_ADDRESS,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
    issue kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
    issue_kubeconfig admin /O=system:masters/CN=admin
    issue_kubeconfig kwok /O=system:masters/CN=kwok
    issue_kubeconfig kube-controller-manager /CN=system:kube-controller-manager
    issue_kubeconfig kube-scheduler /CN=system:kube-scheduler
}
