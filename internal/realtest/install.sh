#!/bin/sh
# Installs what the tests against real servers need and finds nothing to do
# where it is there. Today that is PostgreSQL, from the distribution's packages.
set -eu

say() { printf 'realtest: %s\n' "$*"; }

postgres_bin() {
	for initdb in /usr/lib/postgresql/*/bin/initdb "$(command -v initdb || true)"; do
		if [ -x "$initdb" ]; then
			dirname "$initdb"
			return
		fi
	done
	return 1
}

install_postgres() {
	if bin=$(postgres_bin); then
		say "PostgreSQL is there: $("$bin/postgres" --version)"
		return
	fi
	if ! command -v apt-get >/dev/null; then
		say "PostgreSQL is missing and there is no apt-get; install its server so that initdb is in PATH" >&2
		exit 1
	fi
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		sudo=sudo
	fi
	say "installing PostgreSQL with apt-get; the tests start servers of their own, so no cluster is made"
	$sudo mkdir -p /etc/postgresql-common
	if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
		echo 'create_main_cluster = false' | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
	fi
	$sudo apt-get update -qq
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql
	say "installed: $("$(postgres_bin)/postgres" --version)"
}

install_postgres
