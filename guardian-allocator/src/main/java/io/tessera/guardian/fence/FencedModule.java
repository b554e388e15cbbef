package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A module that may run beside other tenants' in one context. After it is loaded and before its first launch, its loader allocates the variables,
 * fills their constants and {@link WindowConstants#NAME}, and writes the patches. Immutable.
 *
 * @param mode        its fence mode
 * @param module      the fenced module
 * @param id          tells the modules of a tenant apart in violations; a hash of its names and sizes, the same in every process
 * @param variables   variables that moved into the window, in the order of the module
 * @param patches     addresses to be written into constants that stayed
 * @param functions   names of the functions of the original module that were fenced, in order; then those of the functions that were added for
 *                    indirect calls
 * @param assertTexts texts of assertions: {@code file:line: function: text}
 * @param tensorMaps  parameters that hold tensor maps: to be checked at every launch
 * @param refused     kernels and linkable functions that are omitted because they cannot be fenced, by name, with line and reason of the instruction
 *                    that prevents it
 * @param clusters    whether the module supports clusters or does not use shared memory; if false, its kernels must not be launched with a cluster
 *                    dimension
 * @param waits       whether blocks of its kernels stay until their cluster has ended: each launch of a kernel then has {@link #CLUSTER_BYTES} more
 *                    of dynamic shared memory than the program asks for
 * @param reports     one for each function of the original that was fenced, in order
 */
public record FencedModule(FenceMode mode, PtxModule module, int id, List<HoistedVariable> variables,
        List<ConstantPatch> patches, List<String> functions, List<String> assertTexts,
        List<TensorMapParameter> tensorMaps, Map<String, FenceRefusedException> refused, boolean clusters,
        boolean waits, List<KernelReport> reports) {
    /**
     * Shared memory of a block that must stay until its cluster has ended, behind all of the program's: four words, at any place with 8-byte
     * alignment.
     */
    public static final int CLUSTER_BYTES = 24;

    /** Copies the lists. */
    public FencedModule {
        variables = List.copyOf(variables);
        patches = List.copyOf(patches);
        functions = List.copyOf(functions);
        assertTexts = List.copyOf(assertTexts);
        tensorMaps = List.copyOf(tensorMaps);
        refused = Collections.unmodifiableMap(new LinkedHashMap<>(refused));
        reports = List.copyOf(reports);
    }

    /** Returns this module with other reports. */
    public FencedModule with(List<KernelReport> others) {
        return new FencedModule(mode, module, id, variables, patches, functions, assertTexts, tensorMaps, refused, clusters, waits, others);
    }

    /** The PTX to compile. */
    public String ptx() {
        return PtxPrinter.print(module);
    }
}
