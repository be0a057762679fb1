# SPDX-License-Identifier: MIT
# make install DESTDIR=... PREFIX=...: library, headers, libvclock.pc, tools, man pages.

# ldconfig is the packager's to run.
INSTALL_HEADERS := vclock.h $(patsubst include/%,%,$(wildcard include/vclock/*.h include/vclock/*/*.h))
INSTALL_MAN := $(wildcard man/*.[1-8])
INSTALL_TOOLS = $(B)/vclock $(B)/vclockd
D := $(DESTDIR)

# Files of what is installed, for uninstall: no folders, and nothing that is not ours.
INSTALLED = $(LIBDIR)/libvclock.a \
	$(if $(HAS_SO),$(LIBDIR)/libvclock.so.0 $(LIBDIR)/libvclock.so) \
	$(LIBDIR)/pkgconfig/libvclock.pc \
	$(INSTALL_HEADERS:%=$(INCLUDEDIR)/%) \
	$(patsubst $(B)/%,$(BINDIR)/%,$(INSTALL_TOOLS)) \
	$(foreach page,$(INSTALL_MAN),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

define PC_TEXT
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$(INCLUDEDIR)

Name: libvclock
Description: the clocks of Linux without a system call
Version: $(VERSION)
Libs: -L$${libdir} -lvclock
Libs.private: -pthread
Cflags: -I$${includedir}
endef

# Installs man pages with links kept: a link says that two names share a page.
install: all
	install -d $(sort $(dir $(INSTALLED:%=$(D)%)))
	install -m 644 $(B)/libvclock.a $(D)$(LIBDIR)/
ifneq ($(HAS_SO),)
	install -m 755 $(B)/libvclock.so.0 $(D)$(LIBDIR)/
	ln -sf libvclock.so.0 $(D)$(LIBDIR)/libvclock.so
endif
	$(file >$(B)/libvclock.pc,$(PC_TEXT))
	install -m 644 $(B)/libvclock.pc $(D)$(LIBDIR)/pkgconfig/
	for header in $(INSTALL_HEADERS); do \
		install -m 644 include/$$header $(D)$(INCLUDEDIR)/$$header || exit 1; done
	for tool in $(INSTALL_TOOLS); do install -m 755 $$tool $(D)$(BINDIR)/ || exit 1; done
	for page in $(INSTALL_MAN); do \
		install -m 644 $$page $(D)$(MANDIR)/man$${page##*.}/ || exit 1; done

uninstall:
	rm -f $(INSTALLED:%=$(D)%)

.PHONY: install uninstall
