# SPDX-License-Identifier: LGPL-2.1-or-later
nodist_systemdsystemunit_DATA = systemd/numad-xend.service
dist_dbussystem_DATA = systemd/org.numadxen.NumadXen1.conf
nodist_dbusservices_DATA = systemd/org.numadxen.NumadXen1.service
dist_dbusinterfaces_DATA = proto/org.numadxen.NumadXen1.xml

EXTRA_DIST += systemd/numad-xend.service.in systemd/org.numadxen.NumadXen1.service.in
CLEANFILES += systemd/numad-xend.service systemd/org.numadxen.NumadXen1.service

# By make, not by configure: only make knows what $(sbindir) becomes.
systemd/%.service: systemd/%.service.in Makefile
	$(AM_V_at)$(MKDIR_P) systemd
	$(AM_V_GEN)sed -e 's|@sbindir[@]|$(sbindir)|g' $< > $@.tmp && mv $@.tmp $@
