#!/bin/sh
# Make what must not be in a repository: passwords and certificates, in deploy/secrets.
# What exists is kept; delete a file to have it made anew.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/secrets"
# The folder is for its owner alone. The files are not: containers, which are given single
# files of it, read them as users of their own.
chmod 700 "$here/secrets"
cd "$here/secrets"
umask 022

drawn() { openssl rand -hex 24; }
keep() { [ -e "$1" ] || printf %s "$2" > "$1"; }

nodes=nats-0:4222,nats-1:4222,nats-2:4222
keep nats_url "tls://echoic:$(drawn)@$nodes"
keep postgres_password "$(drawn)"
keep database_url "postgresql://echoic:$(cat postgres_password)@postgres:5432/echoic"
keep grafana_password "$(drawn)"

# By short name in compose, by the headless service's in Kubernetes.
sh "$here/nats/certificates.sh" . \
    nats-0 nats-1 nats-2 nats-0.nats nats-1.nats nats-2.nats
