# One archive a folder, the lowest first; what a layer may use is what stands before it.
DIRECT := direct/turns direct/memory direct/chunks direct/swap direct/pools direct/ipc direct/entry
RELAY := relay/wire relay/executor relay/memory relay/code relay/streams relay/copies relay/graphs relay/entry
LAYERS := driver session $(DIRECT) $(RELAY) port

# Generated files belong to a layer like others.
generated.driver := entry_names
generated.direct/entry := submit hooked_entries
generated.relay/streams := relay_stubs
generated.relay/entry := relay_lookup relay_port
assembled.driver := $(OBJ)/loader_asm.o $(OBJ)/trace_asm.o $(OBJ)/trampolines.o
assembled.direct/turns := $(OBJ)/away_asm.o

# $(call below,LAYER): the archives under it, the nearest first, as a linker wants them. Direct and relay do not see each other.
before = $(if $(filter $(1),$(firstword $(2))),,$(firstword $(2)) $(call before,$(1),$(wordlist 2,99,$(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
seen = $(if $(filter relay/%,$(1)),$(filter-out direct/%,$(call before,$(1),$(LAYERS))),$(call before,$(1),$(LAYERS)))
archive = $(OUT)/layers/$(subst /,-,$(1)).a
below = $(foreach l,$(call reverse,$(call seen,$(1))),$(call archive,$(l)))

define layer
objects.$(1) := $$(patsubst src/%.c,$$(OBJ)/%.o,$$(wildcard src/$(1)/*.c)) $$(generated.$(1):%=$$(OBJ)/generated/%.o) $$(assembled.$(1))
$$(call archive,$(1)): $$(objects.$(1))
	@mkdir -p $$(@D)
	rm -f $$@
	$$(AR) rcsD $$@ $$^
# A layer's test program: its sources, its layer whole (so that all of it must link), and what is below.
$$(OUT)/checks/layers/$(1)/check: $$(wildcard checks/layers/$(1)/*.c) checks/check.h $$(call archive,$(1)) $$(call below,$(1))
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) -Ichecks $$(CFLAGS) -fPIE -pie -o $$@ $$(filter %.c,$$^) \
	    -Wl,--whole-archive $$(call archive,$(1)) -Wl,--no-whole-archive $$(call below,$(1)) $$(FLOOR_LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$(l))))

ARCHIVES := $(foreach l,$(LAYERS),$(call archive,$(l)))
CUDA_OBJECTS := $(foreach l,$(LAYERS),$(objects.$(l)))
archives: $(ARCHIVES)
show-below:
	@$(foreach l,$(LAYERS),echo '$(l): $(notdir $(call below,$(l)))';)
.PHONY: archives show-below
