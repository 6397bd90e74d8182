#!/bin/sh
# Make an authority, and a certificate of it for all nodes of a cluster:
#   sh certificates.sh FOLDER NAME...
# Each NAME is one by which clients or nodes reach a node. What exists is kept. Where there
# is an authority already, use that instead: the nodes need ca.pem, node.pem, node-key.pem.
set -eu
cd "$1"
shift

names=""
for name in "$@" localhost; do names="$names,DNS:$name"; done

if [ ! -e ca.pem ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc \
        -keyout ca-key.pem -out ca.pem -days 3650 -subj "/CN=Echoic's nodes" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
fi
if [ ! -e node.pem ]; then
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc \
        -keyout node-key.pem -out node.csr -subj "/CN=node"
    cat > node.ext <<END
subjectAltName = IP:127.0.0.1$names
extendedKeyUsage = serverAuth, clientAuth
END
    openssl x509 -req -in node.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial \
        -out node.pem -days 825 -extfile node.ext
    rm node.csr node.ext
fi
