package io.tessera.guardian.cache;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.TensorMapParameter;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The data besides the machine code that are needed to load a fenced module: {@link FencedModule} without its PTX and reports. They are stored with
 * the code in a cache, so that a second start parses nothing. Immutable.
 *
 * @param mode        fence mode of the module
 * @param id          {@link FencedModule#id()}
 * @param variables   {@link FencedModule#variables()}
 * @param patches     {@link FencedModule#patches()}
 * @param functions   {@link FencedModule#functions()}
 * @param assertTexts {@link FencedModule#assertTexts()}
 * @param reports     whether its code may write into the report area, which then has to be read
 * @param keepsState  whether loaded code has state that another copy of the module would not share: constants and texture references that the host
 *                    writes
 * @param tensorMaps  {@link FencedModule#tensorMaps()}
 * @param refused     reasons for the functions in {@link FencedModule#refused()}, by name
 * @param clusters    {@link FencedModule#clusters()}
 * @param waits       {@link FencedModule#waits()}
 * @param waiting     functions of which {@link io.tessera.guardian.fence.KernelReport#waits} says that they may wait for other blocks of their grid
 * @param writes      {@link KernelReport#writes()} of the kernels, by name
 */
public record FencedTables(FenceMode mode, int id, List<HoistedVariable> variables, List<ConstantPatch> patches,
        List<String> functions, List<String> assertTexts, boolean reports, boolean keepsState,
        List<TensorMapParameter> tensorMaps, Map<String, String> refused, boolean clusters, boolean waits,
        Set<String> waiting, Map<String, KernelWrites> writes) {
    /** Fences that are recorded when they are reached. */
    private static final Set<Fence> REPORTING = Set.of(Fence.TRAP, Fence.CALL_TARGET, Fence.HANDLE, Fence.WHOLE_WARP);

    /** Copies the lists. */
    public FencedTables {
        variables = List.copyOf(variables);
        patches = List.copyOf(patches);
        functions = List.copyOf(functions);
        assertTexts = List.copyOf(assertTexts);
        tensorMaps = List.copyOf(tensorMaps);
        refused = Map.copyOf(refused);
        waiting = Set.copyOf(waiting);
        writes = Map.copyOf(writes);
    }

    /** The tables of a module. */
    public static FencedTables of(FencedModule module) {
        return new FencedTables(module.mode(), module.id(), module.variables(), module.patches(), module.functions(),
                module.assertTexts(), module.mode() == FenceMode.CHECK || module.reports().stream()
                        .anyMatch(function -> REPORTING.stream().anyMatch(function.fences()::containsKey)),
                module.module().variables().stream().anyMatch(FencedTables::isState), module.tensorMaps(), reasons(module.refused()),
                module.clusters(), module.waits(), module.reports().stream().filter(function -> function.waits() != null).map(KernelReport::name)
                        .collect(Collectors.toSet()),
                module.reports().stream().filter(function -> function.writes() != null)
                        .collect(Collectors.toMap(KernelReport::name, KernelReport::writes)));
    }

    /** Returns the tables of the module without some kernels, given by name with the reason for each. */
    public FencedTables without(Map<String, String> kernels) {
        Map<String, String> all = new HashMap<>(refused);
        all.putAll(kernels);
        return new FencedTables(mode, id, variables, patches, functions, assertTexts, reports, keepsState,
                tensorMaps.stream().filter(map -> !kernels.containsKey(map.kernel())).toList(), all, clusters, waits, waiting, writes);
    }

    private static Map<String, String> reasons(Map<String, FenceRefusedException> refused) {
        Map<String, String> reasons = new HashMap<>();
        refused.forEach((name, why) -> reasons.put(name, why.getMessage()));
        return reasons;
    }

    private static boolean isState(Variable variable) {
        return !variable.name().startsWith(WindowConstants.PREFIX)
                && (variable.space() == StateSpace.CONST || variable.type().kind() == ScalarType.Kind.OPAQUE);
    }
}
