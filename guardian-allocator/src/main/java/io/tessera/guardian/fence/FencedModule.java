package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxPrinter;
import java.util.List;

/**
 * A module that may run beside other tenants' in one context. After it is loaded and before its first launch, its loader
 * allocates the variables, fills their constants and {@link WindowConstants#NAME}, and writes the patches. Immutable.
 *
 * @param mode        how it is fenced
 * @param module      the fenced module
 * @param id          tells the modules of a tenant apart in violations; a hash of the module's text
 * @param variables   what moved into the window, in the order of the module
 * @param patches     what has to be written into constants that stayed
 * @param functions   names of the functions of the original module that have a body, in order; then those of the functions
 *                    that were added for indirect calls
 * @param assertTexts texts of assertions: {@code file:line: function: text}
 * @param tensorMaps  parameters that hold tensor maps: to be checked at every launch
 * @param reports     one for each function of the original module, in order
 */
public record FencedModule(FenceMode mode, PtxModule module, int id, List<HoistedVariable> variables,
        List<ConstantPatch> patches, List<String> functions, List<String> assertTexts,
        List<TensorMapParameter> tensorMaps, List<KernelReport> reports) {
    /** Copies the lists. */
    public FencedModule {
        variables = List.copyOf(variables);
        patches = List.copyOf(patches);
        functions = List.copyOf(functions);
        assertTexts = List.copyOf(assertTexts);
        tensorMaps = List.copyOf(tensorMaps);
        reports = List.copyOf(reports);
    }

    /** The PTX to compile. */
    public String ptx() {
        return PtxPrinter.print(module);
    }
}
