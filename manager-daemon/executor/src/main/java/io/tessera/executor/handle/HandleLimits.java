package io.tessera.executor.handle;

import io.tessera.device.HandleKind;

/**
 * How many objects of a kind one client may have. All clients' objects are in one context, whose driver runs out of room for
 * everybody: these bounds are far above what programs have, and what lies beyond is OUT_OF_MEMORY for the one who asks.
 * Stateless.
 */
public final class HandleLimits {
    private static final int STREAMS = 1024;
    private static final int LINKERS = 64;
    private static final int POOLS = 1024;
    private static final int TEXTURES = 1 << 16;
    private static final int PROGRAMS = 1 << 15;
    private static final int ARRAYS = 1 << 16;
    private static final int EVENTS = 1 << 17;
    private static final int OTHERS = 1 << 20;

    private HandleLimits() {
    }

    /** The most of a kind. */
    public static int most(HandleKind kind) {
        return switch (kind) {
            case STREAM -> STREAMS;
            case LINKER -> LINKERS;
            case POOL -> POOLS;
            case TEXTURE, SURFACE -> TEXTURES;
            case MODULE, LIBRARY, GRAPH_EXEC -> PROGRAMS;
            case ARRAY, MIPMAP -> ARRAYS;
            case EVENT -> EVENTS;
            default -> OTHERS;
        };
    }
}
