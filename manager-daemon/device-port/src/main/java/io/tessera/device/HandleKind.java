package io.tessera.device;

/** Types whose values name an object in the driver, with the numbers of {@code TESSERA_HANDLE_} in the relay's header. */
public enum HandleKind {
    /** {@code CUcontext}; never travels through the relay. */
    CONTEXT(1),
    /** {@code CUstream}; 0, 1 and 2 are the default streams. */
    STREAM(2),
    /** {@code CUevent}. */
    EVENT(3),
    /** {@code CUmodule}. */
    MODULE(4),
    /** {@code CUfunction}; a {@link #KERNEL} is accepted in its place. */
    FUNCTION(5),
    /** {@code CUlibrary}. */
    LIBRARY(6),
    /** {@code CUkernel}. */
    KERNEL(7),
    /** {@code CUmemoryPool}. */
    POOL(8),
    /** {@code CUmemGenericAllocationHandle}. */
    ALLOCATION(9),
    /** {@code CUarray}. */
    ARRAY(10),
    /** {@code CUmipmappedArray}. */
    MIPMAP(11),
    /** {@code CUtexObject}: the device's own value, kernels get it. */
    TEXTURE(12),
    /** {@code CUsurfObject}: the device's own value, kernels get it. */
    SURFACE(13),
    /** {@code CUtexref}. */
    TEXREF(14),
    /** {@code CUsurfref}. */
    SURFREF(15),
    /** {@code CUgraph}. */
    GRAPH(16),
    /** {@code CUgraphNode}. */
    GRAPH_NODE(17),
    /** {@code CUgraphExec}. */
    GRAPH_EXEC(18),
    /** {@code CUlinkState}. */
    LINKER(19),
    /** {@code CUuserObject}. */
    USER_OBJECT(20),
    /** {@code CUgreenCtx}. */
    GREEN_CONTEXT(21),
    /** {@code CUdevResourceDesc}. */
    RESOURCE(22),
    /** Types that only refused entries take: external memory, graphics resources. The relay has no number for them. */
    FOREIGN(0);

    private final int number;

    HandleKind(int number) {
        this.number = number;
    }

    /** Returns the number in a relayed handle; 0 for types without a number. */
    public int number() {
        return number;
    }

    /** Returns whether the device's own values are passed to the client, because programs pass them to kernels. */
    public boolean deviceValue() {
        return this == TEXTURE || this == SURFACE;
    }
}
