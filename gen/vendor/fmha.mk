# Made by fmhagen %{version}. DO NOT EDIT: `fmhagen vendor .` in this folder makes it anew.
#
# For GNU make:
#
#     include third_party/fmha/fmha.mk
#     program: program.o $(FMHA_LIBRARY)
#     	$(CC) $(LDFLAGS) $^ $(FMHA_LDLIBS) -o $@
#     program.o: CPPFLAGS += $(FMHA_CPPFLAGS)
#
# FMHA_HIPCC  hipcc of ROCm 6 or later, or clang++ 19 or later, that compiles the kernels with the project; empty: they
#             are compiled on first use
# FMHA_BUILD  where everything goes, build/fmha unless it is set
#
# Neither it nor the path of this file, as it is included, may hold a blank; the folders above may.
FMHA_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
FMHA_BUILD ?= build/fmha
FMHA_HIPCC ?=
FMHA_LIBRARY := $(FMHA_BUILD)/libfmha.a
FMHA_CPPFLAGS := -I$(FMHA_DIR)
FMHA_LDLIBS := -ldl -lpthread

fmha_goal := $(.DEFAULT_GOAL)
fmha_sources := \
%{sources_make}
fmha_objects := $(fmha_sources:%.c=$(FMHA_BUILD)/%.o) $(FMHA_BUILD)/fmha_kernels.o $(FMHA_BUILD)/fmha_embedded.o
# Long paths are cut on purpose, of which gcc warns; clang does not know that warning.
fmha_compile = $(CC) $(CPPFLAGS) -D_GNU_SOURCE '-DFMHA_VERSION="%{version}"' $(if $(FMHA_HIPCC),-DFMHA_COMPILED_AHEAD) \
    -I$(FMHA_DIR) -I$(FMHA_DIR)/src -I$(FMHA_BUILD) $(CFLAGS) -Wno-unknown-warning-option -Wno-format-truncation \
    -std=c11 -fPIC -fvisibility=hidden -c $< -o $@

# What compiles the kernels for each chip, and the kernels.
%{groups_make}

fmha_embedded := $(FMHA_DIR)/kernels/fmha.index $(fmha_kernels:%=$(FMHA_DIR)/kernels/%.hip)
ifneq ($(FMHA_HIPCC),)
fmha_embedded += $(fmha_kernels:%=$(FMHA_BUILD)/%.ahead.hsaco)
endif

$(FMHA_LIBRARY): $(fmha_objects)
	rm -f $@
	$(AR) rcs $@ $^

$(fmha_sources:%.c=$(FMHA_BUILD)/%.o): $(FMHA_BUILD)/%.o: $(FMHA_DIR)/src/%.c $(FMHA_DIR)/fmha.h \
    $(wildcard $(FMHA_DIR)/src/*.h) | $(FMHA_BUILD)
	$(fmha_compile)

$(FMHA_BUILD)/fmha_kernels.o: $(FMHA_DIR)/fmha_kernels.c $(FMHA_DIR)/src/embedded.h $(FMHA_BUILD)/compiler
	$(fmha_compile)

$(FMHA_BUILD)/fmha_embedded.o: $(FMHA_DIR)/fmha_kernels.S $(fmha_embedded) $(FMHA_BUILD)/compiler
	$(fmha_compile)

# Written anew when another compiler, or none, is asked for.
$(FMHA_BUILD)/compiler: fmha_always | $(FMHA_BUILD)
	@echo '$(FMHA_HIPCC)' | cmp -s - $@ || echo '$(FMHA_HIPCC)' > $@

$(FMHA_BUILD):
	mkdir -p $@

.PHONY: fmha_always
fmha_always:

.DEFAULT_GOAL := $(fmha_goal)
