# SPDX-License-Identifier: Apache-2.0
# profpipe: continuous profiling as Unix pipelines. `make help` lists the targets.

VERSION := 0.1.0

# --- configuration: override on the command line --------------------------------------------
PREFIX ?= /usr/local
DESTDIR ?=
CC := gcc
CLANG ?= clang
# Debian has it where the PATH of ordinary users does not lead
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
SAN ?=
COV ?=
V ?=

# --- variants live in build trees of their own -----------------------------------------------
comma := ,
variant := $(if $(SAN),san-$(subst $(comma),-,$(SAN)))$(if $(COV),cov)$(if $(filter-out gcc cc,$(CC)),$(notdir $(CC)))
BUILD := build$(if $(variant),/$(variant))
BIN := $(BUILD)/bin
OBJ := $(BUILD)/obj
GEN := $(BUILD)/gen

ifeq ($(V),)
# with make -s, nothing at all
quiet = @$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,printf '  %-7s %s\n' $(1) $(2);)
Q := @
else
quiet =
Q :=
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wformat=2 -Wvla -Wundef -Wwrite-strings
PKGS := libelf libdw zlib libdeflate libzstd liblzma libpcre2-8 smartcols
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) libbpf jansson)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)) -liberty -lm -lpthread
CAPTURE_LIBS := $(shell $(PKG_CONFIG) --libs libbpf jansson)

ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -DPROFPIPE_VERSION='"$(VERSION)"' -I. -I$(GEN) \
	-fno-common -fstack-protector-strong $(WARN) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS := -Wl,--as-needed -Wl,-z,relro,-z,now $(LDFLAGS)
ifneq ($(SAN),)
ALL_CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=$(SAN)
endif
ifneq ($(COV),)
ALL_CFLAGS += --coverage -O0
ALL_LDFLAGS += --coverage
endif

# --- sources, found by place -------------------------------------------------------------------
TOOLS := $(patsubst tools/%/main.c,%,$(wildcard tools/*/main.c))
PROGRAMS := $(TOOLS:%=$(BIN)/prof-%)
BPF_SRC := $(wildcard bpf/*.bpf.c)
SKELS := $(BPF_SRC:bpf/%.bpf.c=$(GEN)/%.skel.h)
LIB_SRC := $(wildcard lib/*/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
LIB := $(BUILD)/libprofpipe.a
UNIT_SRC := $(wildcard tests/unit/*_test.c)
UNITS := $(UNIT_SRC:tests/unit/%_test.c=$(BUILD)/tests/unit/%.t)
FUZZ_SRC := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
FUZZ_NAMES := $(FUZZ_SRC:tests/fuzz/%.c=%)
REPLAYS := $(FUZZ_NAMES:%=$(BUILD)/tests/fuzz/%)
HELPER_SRC := $(wildcard tests/lib/*.c)
HELPERS := $(HELPER_SRC:tests/lib/%.c=$(BUILD)/tests/lib/%) $(BUILD)/tests/lib/prof-capture-stop
MAN1 := $(wildcard tools/*/prof-*.1 scripts/prof-*.1)
SCRIPTS := $(patsubst %.1,%,$(wildcard scripts/prof-*.1))
SCRIPT_LIBS := $(wildcard scripts/lib/*.sh)
CLUSTER_SCRIPTS := $(filter-out %.yaml,$(wildcard scripts/cluster/*))
MAN5 := $(wildcard docs/*.5)
SYSTEMD_UNITS := $(wildcard deploy/systemd/*.in deploy/systemd/*.timer)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check check-long lint bench fuzz install install-units uninstall clean help units \
	replays helpers

all: $(PROGRAMS)

help:
	@echo 'all check check-long lint bench fuzz install uninstall clean'
	@echo 'variables: V=1 SAN=address,undefined CC=clang COV=1 PREFIX= DESTDIR='

# --- compile ------------------------------------------------------------------------------------
$(OBJ)/%.o: %.c
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OBJ)/%.o: %.S
	$(call quiet,AS,$<)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(call quiet,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# --- BPF ----------------------------------------------------------------------------------------
$(GEN)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	$(call quiet,BPF,$<)mkdir -p $(@D) && $(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall \
		-D__TARGET_ARCH_$(BPF_ARCH) -I. -c -o $@ $<

# The same sampler, but it stops the first process that it samples.
$(GEN)/stop/cpu.bpf.o: bpf/cpu.bpf.c $(wildcard bpf/*.h)
	$(call quiet,BPF,$@)mkdir -p $(@D) && $(CLANG) -target bpf -mcpu=v3 -g -O2 -Wall \
		-D__TARGET_ARCH_$(BPF_ARCH) -DSTOP_AT_SAMPLE -I. -c -o $@ $<

# What bpftool writes forgets memory when memory is short; lint must not hold that against us.
$(GEN)/%.skel.h: $(GEN)/%.bpf.o
	$(call quiet,SKEL,$@)$(BPFTOOL) gen skeleton $< name $(subst -,_,$(notdir $*))_bpf > $@ && \
		sed -i 's|return err;$$|& /* NOLINT */|' $@

# The machine that the compiler builds for.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) $(CFLAGS) -dumpmachine)))
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))
CAPTURE_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tools/capture/*.c))
$(CAPTURE_OBJ): $(SKELS)

# --- programs -----------------------------------------------------------------------------------
# One tool: its own directory, the library, and (capture alone) libbpf.
define tool_rule
$(BIN)/prof-$(1): $(patsubst %.c,$(OBJ)/%.o,$(wildcard tools/$(1)/*.c)) \
		$(patsubst %.S,$(OBJ)/%.o,$(wildcard tools/$(1)/*.S)) $(LIB)
	$$(call quiet,LINK,$$@)mkdir -p $$(@D) && $$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ \
		$(if $(filter capture,$(1)),$$(CAPTURE_LIBS)) $$(PKG_LIBS)
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

# The page that prof-render fills in: its scripts in the order they use one another.
VIEWER := tools/render/viewer
VIEWER_JS := $(addprefix $(VIEWER)/,format.js names.js data.js decoder.js selector.js explore.js view.js colour.js \
	grower.js invert.js grow.js model.js layout.js search.js state.js draw.js card.js columns.js table.js timeline.js chooser.js \
	shaper.js menu.js restore.js words.js legend.js tags.js tabs.js source.js trend.js panels.js probe.js \
	controls.js app.js)
$(GEN)/viewer.page.html: $(VIEWER)/assemble $(VIEWER)/viewer.html $(VIEWER)/viewer.css $(VIEWER_JS)
	$(call quiet,PAGE,$@)mkdir -p $(@D) && $(VIEWER)/assemble $(wordlist 2,99,$^) > $@

# What it adds to an SVG that is to be interactive.
$(GEN)/viewer.svg.xml: $(VIEWER)/assemble $(VIEWER)/svg.xml $(addprefix $(VIEWER)/,svg.css format.js names.js svg.js)
	$(call quiet,PART,$@)mkdir -p $(@D) && $(VIEWER)/assemble $(wordlist 2,99,$^) > $@

$(OBJ)/tools/render/viewer.o: $(GEN)/viewer.page.html $(GEN)/viewer.svg.xml

# --- tests --------------------------------------------------------------------------------------
$(BUILD)/tests/unit/%.t: $(OBJ)/tests/unit/%_test.o $(LIB)
	$(call quiet,LINK,$@)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) \
		$(LIB) -lcmocka $(PKG_LIBS)

$(BUILD)/tests/fuzz/%: $(OBJ)/tests/fuzz/%.o $(OBJ)/tests/fuzz/replay.o $(LIB)
	$(call quiet,LINK,$@)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# What a unit test needs of a tool.
$(BUILD)/tests/unit/gate.t: $(patsubst %,$(OBJ)/tools/diff/%.o,gate gate_judge verdict combine waiver labels)
$(BUILD)/tests/unit/rules.t: $(OBJ)/tools/capture/rules.o $(OBJ)/tools/capture/labellist.o
$(BUILD)/tests/unit/room.t: $(OBJ)/tools/capture/room.o
$(BUILD)/tests/unit/perfsample.t: $(OBJ)/tools/capture/perfsample.o
$(BUILD)/tests/unit/html_data.t: \
	$(patsubst %,$(OBJ)/tools/render/%.o,html_data html_tree html_cells timeline targets bins tree)
$(BUILD)/tests/unit/timeline.t: $(patsubst %,$(OBJ)/tools/render/%.o,timeline targets bins)

# protobuf-c is the second opinion of these on what we read and write.
PB := $(GEN)/lib/pprof/profile.pb-c
$(PB).h $(PB).c &: lib/pprof/profile.proto
	$(call quiet,PROTOC,$<)mkdir -p $(GEN) && protoc-c --c_out=$(GEN) $<

$(OBJ)/profile.pb-c.o: $(PB).c
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -w -MMD -MP -c -o $@ $<

$(OBJ)/tests/unit/reader_test.o $(OBJ)/tests/lib/roundtrip.o: | $(PB).h
$(BUILD)/tests/unit/reader.t $(BUILD)/tests/lib/roundtrip: $(OBJ)/profile.pb-c.o
$(BUILD)/tests/unit/reader.t $(BUILD)/tests/lib/roundtrip: PKG_LIBS += -lprotobuf-c

# Programs the tests run: workloads, fault injection, oracles. May use the library. Their
# frames can be followed.
$(OBJ)/tests/lib/%.o: ALL_CFLAGS += -fno-omit-frame-pointer

$(BUILD)/tests/lib/%: $(OBJ)/tests/lib/%.o $(LIB)
	$(call quiet,LINK,$@)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Its stacks have to be known, whatever the compiler's defaults are.
$(OBJ)/tests/lib/workload.o: ALL_CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

STOP_OBJ := $(OBJ)/stop/programs.o $(OBJ)/stop/sampler.o
$(STOP_OBJ): $(OBJ)/stop/%.o: tools/capture/%.c $(GEN)/stop/cpu.skel.h
	$(call quiet,CC,$@)mkdir -p $(@D) && $(CC) -I$(GEN)/stop $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/lib/prof-capture-stop: $(STOP_OBJ) $(LIB) \
		$(filter-out %/programs.o %/sampler.o,$(CAPTURE_OBJ))
	$(call quiet,LINK,$@)mkdir -p $(@D) && $(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) \
		$(CAPTURE_LIBS) $(PKG_LIBS)

units: $(UNITS)
replays: $(REPLAYS)
helpers: $(HELPERS)

export BUILD
TEST_ENV = PATH="$(abspath $(BIN)):$(abspath $(BUILD))/tests/lib:$$PATH" top="$(CURDIR)" \
	build="$(abspath $(BUILD))" LC_ALL=C

PROVE_FLAGS = -j2 --timer
# the longest first: at the end it would be alone on two CPUs
CLI_TESTS := tests/cli/vm.t $(filter-out %/vm.t,$(sort $(wildcard tests/cli/*.t)))

check: all units replays helpers
	$(Q)$(TEST_ENV) prove $(PROVE_FLAGS) $(UNITS) $(CLI_TESTS)

check-long: all units replays helpers
	$(Q)$(TEST_ENV) PROFPIPE_LONG=1 prove $(PROVE_FLAGS) $(UNITS) \
		$(CLI_TESTS) $(sort $(wildcard tests/long/*.t))

lint: all $(PB).h
	$(Q)MAKE="$(MAKE)" scripts/lint

# For scripts: the value of a variable of this file.
print-%:
	$(info $($*))@:

bench: all
	$(Q)scripts/bench

# Each target for FUZZ_SECONDS, with what it finds left in build/fuzz/.
FUZZ_SECONDS ?= 300
fuzz:
	$(Q)scripts/fuzz $(FUZZ_SECONDS) $(FUZZ_NAMES)

# --- install ------------------------------------------------------------------------------------
CAPTURE_CAPS := cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_dac_read_search,$\
	cap_checkpoint_restore
install: all install-units
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(PROGRAMS) $(SCRIPTS) $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/share/profpipe
	install -m 644 $(SCRIPT_LIBS) $(DESTDIR)$(PREFIX)/share/profpipe
	install -d $(DESTDIR)$(PREFIX)/share/profpipe/cluster
	install -m 755 $(CLUSTER_SCRIPTS) $(DESTDIR)$(PREFIX)/share/profpipe/cluster
	install -m 644 scripts/cluster/kubernetes.yaml $(DESTDIR)$(PREFIX)/share/profpipe/cluster
	$(if $(MAN1),install -m 644 $(MAN1) $(DESTDIR)$(PREFIX)/share/man/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(DESTDIR)$(PREFIX)/share/man/man5)
	for t in $(TOOLS:%=prof-%) $(notdir $(SCRIPTS)); do install -m 644 scripts/completion.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$t || exit 1; done
	@echo 'To capture a machine without being root, give the program what prof-capture(1) lists:'
	@echo '  setcap $(CAPTURE_CAPS)+ep $(PREFIX)/bin/prof-capture'

# For systemd: the paths, the capabilities and what is the same in all services are filled in.
LIBDIR := $(DESTDIR)$(PREFIX)/lib
install-units:
	install -d $(LIBDIR)/systemd/system $(LIBDIR)/sysusers.d
	install -m 644 deploy/systemd/profpipe.sysusers.conf $(LIBDIR)/sysusers.d/profpipe.conf
	for u in $(SYSTEMD_UNITS); do n=$${u##*/} && install -m 644 $$u $(LIBDIR)/systemd/system/$${n%.in} && \
		sed -i -e '/^@confined@$$/{r deploy/systemd/confined.inc' -e 'd}' \
			-e 's|@bindir@|$(PREFIX)/bin|g; s|@capabilities@|$(subst $(comma), ,$(CAPTURE_CAPS))|' \
		$(LIBDIR)/systemd/system/$${n%.in} || exit 1; done

uninstall:
	for t in $(TOOLS); do rm -f $(DESTDIR)$(PREFIX)/bin/prof-$$t \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/prof-$$t || exit 1; done
	for f in $(notdir $(SCRIPTS)); do rm -f $(DESTDIR)$(PREFIX)/bin/$$f \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$f || exit 1; done
	rm -rf $(DESTDIR)$(PREFIX)/share/profpipe
	rm -f $(LIBDIR)/sysusers.d/profpipe.conf
	for u in $(notdir $(SYSTEMD_UNITS:.in=)); do rm -f $(LIBDIR)/systemd/system/$$u || exit 1; done
	for m in $(notdir $(MAN1)); do rm -f $(DESTDIR)$(PREFIX)/share/man/man1/$$m || exit 1; done
	for m in $(notdir $(MAN5)); do rm -f $(DESTDIR)$(PREFIX)/share/man/man5/$$m || exit 1; done

clean:
	rm -rf build

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
