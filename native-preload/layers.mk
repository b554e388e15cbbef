# One archive a layer, and its test programs, which are linked with the layer and what is below it alone.
LAYERS := $(shell sed '/^\#/d' layers)

# Generated files belong to a layer like others.
generated.driver := entry_names
generated.direct/entry := submit hooked_entries
generated.relay/streams := relay_senders
generated.relay/entry := relay_lookup relay_port relay_twins
assembled.driver := $(OBJ)/loader_asm.o $(OBJ)/trace_asm.o $(OBJ)/trampolines.o
assembled.direct/turns := $(OBJ)/checkpoint_stubs_asm.o
assembled.direct/content := $(OBJ)/content_ptx_asm.o

# $(call below,LAYER): the archives under it, the nearest first, as a linker wants them. Direct and relay do not see each other.
before = $(if $(filter $(1),$(firstword $(2))),,$(firstword $(2)) $(call before,$(1),$(wordlist 2,99,$(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
seen = $(if $(filter relay/%,$(1)),$(filter-out direct/%,$(call before,$(1),$(LAYERS))),$(call before,$(1),$(LAYERS)))
archive = $(BUILD)/layers/$(subst /,-,$(1)).a
below = $(foreach l,$(call reverse,$(call seen,$(1))),$(call archive,$(l)))

# The scripted driver, which tests of the direct port load (test/scripted_driver.h); with the sanitizer as everything else.
DRIVER_SOURCES := ../tests/scripted-driver
DRIVER := $(abspath $(BUILD)/scripted-driver/lib/libcuda-scripted.so.1)
DRIVER_PATH := -DSCRIPTED_DRIVER='"$(DRIVER)"'
$(DRIVER): $(wildcard $(DRIVER_SOURCES)/src/* $(DRIVER_SOURCES)/entries/*) api/cuda-580.names api/cuda.constants
	+CFLAGS='$(SANITIZER)' LDFLAGS='$(SANITIZER)' $(MAKE) -s -C $(DRIVER_SOURCES) BUILD=$(abspath $(BUILD)/scripted-driver) all

TESTS :=
# $(call test,LAYER,NAME): test/LAYER/NAME_test.c is a program. The whole layer is in it, so all of the layer has to link with what is below.
define test
TESTS += $$(BUILD)/test/$(1)/$(2)_test
$$(BUILD)/test/$(1)/$(2)_test: test/$(1)/$(2)_test.c $$(wildcard test/$(1)/*.h test/*/*.h test/*.h test/*.inc) $$(call archive,$(1)) $$(call below,$(1)) \
    | $$(if $$(filter direct/%,$(1)),$$(DRIVER))
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(DRIVER_PATH) -Itest $$(CFLAGS) -fPIE -pie -o $$@ $$< \
	    -Wl,--whole-archive $$(call archive,$(1)) -Wl,--no-whole-archive $$(call below,$(1)) $$(FLOOR_LIBS)
endef

define layer
objects.$(1) := $$(patsubst src/%.c,$$(OBJ)/%.o,$$(wildcard src/$(1)/*.c)) $$(generated.$(1):%=$$(OBJ)/generated/%.o) $$(assembled.$(1))
# The folder's own time changes when a file leaves it: its object must leave the archive, too.
$$(call archive,$(1)): $$(objects.$(1)) src/$(1)
	@mkdir -p $$(@D)
	rm -f $$@
	$$(AR) rcsD $$@ $$(filter %.o,$$^)
$$(foreach t,$$(patsubst test/$(1)/%_test.c,%,$$(wildcard test/$(1)/*_test.c)),$$(eval $$(call test,$(1),$$(t))))
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$(l))))

# NVML of ours is no layer, but a library of its own.
TESTS += $(BUILD)/test/nvml/nvml_test
$(BUILD)/test/nvml/nvml_test: test/nvml/nvml_test.c test/check.h $(NVML_OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itest $(CFLAGS) -fPIE -pie -o $@ $< $(NVML_OBJECTS) $(FLOOR_LIBS)

ARCHIVES := $(foreach l,$(LAYERS),$(call archive,$(l)))
CUDA_OBJECTS := $(foreach l,$(LAYERS),$(objects.$(l)))
archives: $(ARCHIVES)
# Each by itself, so that make -j runs them side by side: half of the time they wait. TESSERA_LONG=1 (tests/run --long): moves_test
# has every call fail, not a sample of them; TESSERA_SEED=N repeats a run.
layer-tests: $(TESTS:%=%.run)
$(TESTS:%=%.run): %.run: %
	@$<
.PHONY: archives layer-tests $(TESTS:%=%.run)
