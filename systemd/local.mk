# SPDX-License-Identifier: LGPL-2.1-or-later
nodist_systemdsystemunit_DATA = systemd/numad-xend.service
dist_dbussystem_DATA = systemd/org.numadxen.NumadXen1.conf
nodist_dbusservices_DATA = systemd/org.numadxen.NumadXen1.service
dist_dbusinterfaces_DATA = proto/org.numadxen.NumadXen1.xml proto/org.numadxen.NumadXen1.Sim.xml

EXTRA_DIST += systemd/numad-xend.service.in systemd/org.numadxen.NumadXen1.service.in
CLEANFILES += systemd/numad-xend.service systemd/org.numadxen.NumadXen1.service

# What the administrator has changed outlives an installation, and a removal.
confdir = $(sysconfdir)/numad-xen
EXTRA_DIST += systemd/numad-xend.conf
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(confdir)"
	test -e "$(DESTDIR)$(confdir)/numad-xend.conf" || \
		$(INSTALL_DATA) $(srcdir)/systemd/numad-xend.conf "$(DESTDIR)$(confdir)/numad-xend.conf"
uninstall-local:
	! cmp -s $(srcdir)/systemd/numad-xend.conf "$(DESTDIR)$(confdir)/numad-xend.conf" || \
		rm -f "$(DESTDIR)$(confdir)/numad-xend.conf"
	-test ! -d "$(DESTDIR)$(confdir)" || rmdir "$(DESTDIR)$(confdir)" 2>/dev/null

# By make, not by configure: only make knows what $(sbindir) becomes.
systemd/%.service: systemd/%.service.in Makefile
	$(AM_V_at)$(MKDIR_P) systemd
	$(AM_V_GEN)sed -e 's|@sbindir[@]|$(sbindir)|g' $< > $@.tmp && mv $@.tmp $@
