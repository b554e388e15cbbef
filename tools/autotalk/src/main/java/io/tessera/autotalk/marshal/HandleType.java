package io.tessera.autotalk.marshal;

import java.util.Arrays;
import java.util.Optional;

/**
 * Types whose values name something in the driver; each is a {@code TESSERA_HANDLE_} constant of
 * {@code native-preload/include/tessera_relay.h}, and {@code io.tessera.device.HandleKind} has the same names.
 */
public enum HandleType {
    /** Context. */
    CONTEXT("CUcontext"),
    /** Stream. */
    STREAM("CUstream"),
    /** Event. */
    EVENT("CUevent"),
    /** Module. */
    MODULE("CUmodule"),
    /** Function. */
    FUNCTION("CUfunction"),
    /** Library. */
    LIBRARY("CUlibrary"),
    /** Kernel. */
    KERNEL("CUkernel"),
    /** Memory pool. */
    POOL("CUmemoryPool"),
    /** Physical allocation; the header hides an integer behind it. */
    ALLOCATION("CUmemGenericAllocationHandle"),
    /** Array. */
    ARRAY("CUarray"),
    /** Mipmapped array. */
    MIPMAP("CUmipmappedArray"),
    /** Texture object. */
    TEXTURE("CUtexObject"),
    /** Surface object. */
    SURFACE("CUsurfObject"),
    /** Texture reference. */
    TEXREF("CUtexref"),
    /** Surface reference. */
    SURFREF("CUsurfref"),
    /** Graph. */
    GRAPH("CUgraph"),
    /** Node of a graph. */
    GRAPH_NODE("CUgraphNode"),
    /** Executable graph. */
    GRAPH_EXEC("CUgraphExec"),
    /** Linker. */
    LINKER("CUlinkState"),
    /** User object. */
    USER_OBJECT("CUuserObject"),
    /** Green context. */
    GREEN_CONTEXT("CUgreenCtx"),
    /** Resource description. */
    RESOURCE("CUdevResourceDesc"),
    /** A type that only refused entries take: the relay has no number for it. */
    FOREIGN("");

    private final String type;

    HandleType(String type) {
        this.type = type;
    }

    /** Returns the kind of a type by its name in the header; empty: the type is not a handle, or not of a known kind. */
    public static Optional<HandleType> ofType(String type) {
        return Arrays.stream(values()).filter(kind -> kind != FOREIGN && kind.type.equals(type)).findFirst();
    }
}
