# SPDX-License-Identifier: MIT
# make install DESTDIR=... PREFIX=...

install: all
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/vclock/arch $(DESTDIR)$(BINDIR)
	install -m 644 $(B)/libvclock.a $(DESTDIR)$(LIBDIR)/
.PHONY: install
