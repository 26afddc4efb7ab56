#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes ./configure from configure.ac. Needs autoconf, automake, libtool, pkg-config.
set -eu
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null || { echo "autogen.sh: $tool is missing: apt-get install autoconf automake libtool pkg-config" >&2; exit 1; }
done
mkdir -p m4 build-aux
exec autoreconf --install --force
