package io.tessera.executor.call;

import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Shape;
import java.util.Map;
import java.util.Set;

/** Which calls end what, and what goes away with what. Stateless. */
final class Lifetimes {
    private static final Map<String, HandleKind> ENDS = Map.ofEntries(
            Map.entry("cuStreamDestroy", HandleKind.STREAM), Map.entry("cuEventDestroy", HandleKind.EVENT),
            Map.entry("cuModuleUnload", HandleKind.MODULE), Map.entry("cuLibraryUnload", HandleKind.LIBRARY),
            Map.entry("cuMemPoolDestroy", HandleKind.POOL), Map.entry("cuMemRelease", HandleKind.ALLOCATION),
            Map.entry("cuArrayDestroy", HandleKind.ARRAY), Map.entry("cuMipmappedArrayDestroy", HandleKind.MIPMAP),
            Map.entry("cuTexObjectDestroy", HandleKind.TEXTURE),
            Map.entry("cuSurfObjectDestroy", HandleKind.SURFACE), Map.entry("cuGraphDestroy", HandleKind.GRAPH),
            Map.entry("cuGraphDestroyNode", HandleKind.GRAPH_NODE),
            Map.entry("cuGraphExecDestroy", HandleKind.GRAPH_EXEC), Map.entry("cuLinkDestroy", HandleKind.LINKER),
            Map.entry("cuTexRefDestroy", HandleKind.TEXREF));
    /** Kinds that end with another object, and what those can be. */
    private static final Map<HandleKind, Set<HandleKind>> PARENTS = Map.of(
            HandleKind.FUNCTION, Set.of(HandleKind.MODULE, HandleKind.KERNEL),
            HandleKind.KERNEL, Set.of(HandleKind.LIBRARY),
            HandleKind.MODULE, Set.of(HandleKind.LIBRARY),
            HandleKind.TEXREF, Set.of(HandleKind.MODULE),
            HandleKind.SURFREF, Set.of(HandleKind.MODULE),
            HandleKind.GRAPH_NODE, Set.of(HandleKind.GRAPH),
            HandleKind.GRAPH, Set.of(HandleKind.GRAPH_NODE),
            HandleKind.ARRAY, Set.of(HandleKind.MIPMAP));
    /** Kinds that outlive the context in which they were made. */
    private static final Set<HandleKind> CONTEXTLESS =
            Set.of(HandleKind.LIBRARY, HandleKind.KERNEL, HandleKind.ALLOCATION, HandleKind.POOL, HandleKind.LINKER);

    private Lifetimes() {
    }

    /** What a call ends; null: nothing. */
    static HandleKind ends(CallPlan plan) {
        return ENDS.get(plan.api());
    }

    /** Whether a call hands out one function by its name. */
    static boolean makesFunction(CallPlan plan) {
        return plan.api().equals("cuModuleGetFunction") || plan.api().equals("cuKernelGetFunction");
    }

    /** Whether the driver counts references to it, so that only the last end counts. */
    static boolean counted(HandleKind kind) {
        return kind == HandleKind.ALLOCATION;
    }

    /** The context that something belongs to when it was made in a call of that context. */
    static int context(HandleKind kind, int context) {
        return CONTEXTLESS.contains(kind) ? 0 : context;
    }

    /** The handle in a call's arguments that something it makes goes away with; 0: none. */
    static long parent(CallFrame frame, HandleKind made) {
        Set<HandleKind> kinds = PARENTS.get(made);
        Shape[] shapes = frame.plan().shapes;
        if (kinds != null && !frame.plan().api().equals("cuGraphClone")) {
            for (int i = 0; i < shapes.length; i++) {
                if (shapes[i] instanceof Handle handle && kinds.contains(handle.kind())) {
                    return frame.said(i);
                }
            }
        }
        return 0;
    }
}
