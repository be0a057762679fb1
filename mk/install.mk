# SPDX-License-Identifier: MIT
# make install DESTDIR=... PREFIX=...: library, headers, libvclock.pc, commands, man pages,
# vclockd's unit; UNITDIR is where systemd looks.

# The images are installed by mk/image.mk. ldconfig is the packager's to run.
INSTALL_HEADERS := vclock.h $(patsubst include/%,%,$(wildcard include/vclock/*.h include/vclock/*/*.h))
INSTALL_MAN := $(wildcard man/*.[1-8])
INSTALL_TOOLS = $(INSTALL_B)/vclock $(B)/vclockd
D := $(DESTDIR)
# What is below is lists of words: a folder with a blank in its name would be two of them, and
# uninstall would remove the wrong one.
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(foreach place,DESTDIR PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR UNITDIR, \
	$(if $(filter-out 1,$(words x$($(place))x)), \
		$(error $(place) is "$($(place))": no blanks in the folders of an installation)))
endif
# PAGE:NAME for each further name that a page is about; the name becomes a page that includes it.
MAN_LINKS := $(shell awk 'FNR == 1 { page = FILENAME; sub(/.*\//, "", page) } \
	/^\.Sh/ { in_name = /^\.Sh NAME/ } \
	in_name && $$1 == ".Nm" && NF > 1 { name = $$2; for (i = 3; i <= NF; i++) \
		if ($$i != ",") name = name "-" $$i; section = page; sub(/.*\./, "", section); \
		if (name "." section != page) print page ":" name "." section }' \
	$(INSTALL_MAN) /dev/null)
man_path = $(MANDIR)/man$(subst .,,$(suffix $1))/$(notdir $1)

# Files of what is installed, for uninstall: no folders, and nothing that is not ours.
INSTALLED = $(LIBDIR)/libvclock.a \
	$(if $(HAS_SO),$(LIBDIR)/libvclock.so.0 $(LIBDIR)/libvclock.so) \
	$(LIBDIR)/pkgconfig/libvclock.pc \
	$(INSTALL_HEADERS:%=$(INCLUDEDIR)/%) \
	$(addprefix $(BINDIR)/,$(notdir $(INSTALL_TOOLS))) \
	$(INSTALL_PARTS)/vclock-tools \
	$(patsubst $(IMAGE_B)/%,$(INSTALL_PARTS)/%,$(IMAGES) $(FOLLOWS)) \
	$(foreach page,$(INSTALL_MAN),$(call man_path,$(page))) \
	$(foreach link,$(MAN_LINKS),$(call man_path,$(lastword $(subst :, ,$(link))))) \
	$(UNITDIR)/vclockd.service

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

install: all $(INSTALL_B)/vclock $(INSTALL_B)/vclock-tools
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
	install -m 755 $(INSTALL_B)/vclock-tools $(D)$(INSTALL_PARTS)/
	for page in $(INSTALL_MAN); do \
		install -m 644 $$page $(D)$(MANDIR)/man$${page##*.}/ || exit 1; done
	for link in $(MAN_LINKS); do page=$${link%:*}; name=$${link#*:}; \
		echo ".so man$${page##*.}/$$page" >$(D)$(MANDIR)/man$${page##*.}/$$name || exit 1; done
	sed 's#^ExecStart=[^ ]*#ExecStart=$(BINDIR)/vclockd#' packaging/vclockd.service \
		>$(D)$(UNITDIR)/vclockd.service

uninstall:
	rm -f $(INSTALLED:%=$(D)%)

.PHONY: install uninstall
