# SPDX-License-Identifier: LGPL-2.1-or-later
# What the documents look like, for whoever reads them.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = \
	proto/numad-xen-doctor-1.schema.json \
	proto/numad-xen-host-1.schema.json \
	proto/numad-xen-placement-1.schema.json \
	proto/numad-xen-reservations-1.schema.json \
	proto/numad-xen-status-1.schema.json \
	proto/numad-xen-topology-1.schema.json
