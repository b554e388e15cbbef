package io.tessera.executor.call;

import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import java.util.Map;
import java.util.Set;

/** Defines which objects end with which others. Stateless. */
final class Lifetimes {
    /** Kinds that end with another object, and the possible kinds of that object. */
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
    private static final Set<HandleKind> CONTEXTLESS = Set.of(HandleKind.LIBRARY, HandleKind.KERNEL, HandleKind.ALLOCATION, HandleKind.POOL,
            HandleKind.LINKER);

    private Lifetimes() {
    }

    /** Returns whether the driver counts references to objects of a kind, so that only the last release ends one. */
    static boolean counted(HandleKind kind) {
        return kind == HandleKind.ALLOCATION;
    }

    /** Returns the context to which an object made in a context belongs. */
    static int context(HandleKind kind, int context) {
        return CONTEXTLESS.contains(kind) ? 0 : context;
    }

    /** Returns the handle in a call's arguments with which a new object ends; 0: none. */
    static long parent(CallFrame frame, HandleKind made) {
        Set<HandleKind> kinds = PARENTS.get(made);
        if (kinds != null) {
            for (int i = 0; i < frame.parameters(); i++) {
                if (frame.shape(i) instanceof Handle handle && kinds.contains(handle.kind())) {
                    return frame.argument(i);
                }
            }
        }
        return 0;
    }
}
