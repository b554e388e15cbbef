package io.tessera.executor.call;

import java.util.Map;
import java.util.Set;

/**
 * Parameters whose data no description tells (RELAY.md, section 8): whoever serves the entry checks and unpacks them.
 * Stateless.
 */
final class Packed {
    private static final Map<String, Set<String>> PARAMETERS = Map.ofEntries(
            Map.entry("cuModuleLoadDataEx", Set.of("image", "optionValues", "options")),
            Map.entry("cuModuleLoadData", Set.of("image")),
            Map.entry("cuModuleLoadFatBinary", Set.of("fatCubin")),
            Map.entry("cuLibraryLoadData", Set.of("code", "jitOptions", "jitOptionsValues")),
            Map.entry("cuLinkCreate", Set.of("options", "optionValues")),
            Map.entry("cuLinkAddData", Set.of("options", "optionValues")),
            Map.entry("cuLinkComplete", Set.of("cubinOut", "sizeOut")),
            Map.entry("cuKernelGetName", Set.of("name")),
            Map.entry("cuFuncGetName", Set.of("name")),
            Map.entry("cuOccupancyMaxPotentialClusterSize", Set.of("config")),
            Map.entry("cuOccupancyMaxActiveClusters", Set.of("config")),
            Map.entry("cuGraphAddKernelNode", Set.of("nodeParams")),
            Map.entry("cuGraphKernelNodeGetParams", Set.of("nodeParams")),
            Map.entry("cuGraphKernelNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphExecKernelNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphAddBatchMemOpNode", Set.of("nodeParams")),
            Map.entry("cuGraphBatchMemOpNodeGetParams", Set.of("nodeParams_out")),
            Map.entry("cuGraphBatchMemOpNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphExecBatchMemOpNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphAddHostNode", Set.of("nodeParams")),
            Map.entry("cuGraphHostNodeGetParams", Set.of("nodeParams")),
            Map.entry("cuGraphHostNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphExecHostNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphAddMemAllocNode", Set.of("nodeParams")),
            Map.entry("cuGraphMemAllocNodeGetParams", Set.of("params_out")),
            Map.entry("cuGraphAddNode", Set.of("nodeParams")),
            Map.entry("cuGraphNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuGraphExecNodeSetParams", Set.of("nodeParams")),
            Map.entry("cuStreamGetCaptureInfo", Set.of("dependencies_out", "edgeData_out")));

    private Packed() {
    }

    /** Whether a parameter's data is packed. */
    static boolean is(CallPlan plan, int parameter) {
        Set<String> names = PARAMETERS.get(plan.api());
        return names != null && names.contains(plan.description.parameters().get(parameter).name());
    }
}
