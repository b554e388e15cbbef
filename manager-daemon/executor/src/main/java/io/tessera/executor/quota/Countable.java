package io.tessera.executor.quota;

import io.tessera.device.HandleKind;

/**
 * Objects that a program can make in the executor, with the maximum number for a tenant and the host memory that one is assumed to need. All objects of all
 * tenants are in one process and one context. The bounds are far above what programs need, and only the tenant that exceeds one is out of memory. Costs are
 * upper estimates for the software GPU, whose objects are in the executor's heap (see the module's README for their sources). Parts of variable size,
 * parameters and images, are added by their size.
 */
public enum Countable {
    /** Contexts, each with two streams of the executor's. */
    CONTEXT("contexts", 256, 65_536),
    /** Streams. */
    STREAM("streams", 1024, 65_536),
    /** Events. */
    EVENT("events", 1 << 17, 512),
    /** Modules and libraries, without their images. */
    PROGRAM("modules and libraries", 1 << 15, 16_384),
    /** Images of modules and libraries that were sent through the ring, and inputs of linkers: counted by their bytes. */
    IMAGE("images", 1 << 16, 0),
    /** Functions and kernels. */
    FUNCTION("functions", 1 << 18, 1024),
    /** Linkers. */
    LINKER("linkers", 64, 65_536),
    /** Memory pools. */
    POOL("memory pools", 1024, 8192),
    /** Handles of allocations, as cuMemCreate makes them. */
    ALLOCATION("allocation handles", 1 << 18, 256),
    /** Allocations, reservations, mappings, and variables that were requested. */
    MEMORY_RANGE("allocations and mappings", 1 << 19, 512),
    /** Regions of pinned or registered host memory. */
    PINNED("regions of pinned memory", 1 << 16, 1024),
    /** Arrays and mipmapped arrays. */
    ARRAY("arrays", 1 << 16, 1024),
    /** Textures, surfaces and references to them. */
    TEXTURE("textures and surfaces", 1 << 16, 1024),
    /** Tensor maps; the oldest ones are dropped for new ones. */
    TENSOR_MAP("tensor maps", 1 << 16, 384),
    /** Graphs. */
    GRAPH("graphs", 1 << 17, 1024),
    /** Nodes of graphs, including those of copies and children, without their parameters. */
    GRAPH_NODE("nodes of graphs", 1 << 20, 768),
    /** Nodes of which a program has a handle. */
    NODE_HANDLE("handles of nodes", 1 << 20, 256),
    /** Conditions of graphs. */
    CONDITION("conditions of graphs", 1 << 16, 128),
    /** Executable graphs. */
    EXECUTABLE_GRAPH("executable graphs", 1 << 15, 4096),
    /** Nodes of executable graphs. */
    EXECUTABLE_NODE("nodes of executable graphs", 1 << 20, 1024),
    /** Branches beyond one in each executable graph: a driver needs 7 ns for each pair of an existing and a new branch (H200, driver 580). */
    EXECUTABLE_BRANCH("branches of executable graphs", 4096, 0),
    /** Events that are watched for the program. */
    WATCH("events that are waited for", 1 << 16, 64),
    /** All other objects with a handle. */
    OTHER("other objects", 1 << 16, 1024);

    private final String plural;
    private final int most;
    private final int bytesEach;

    Countable(String plural, int most, int bytesEach) {
        this.plural = plural;
        this.most = most;
        this.bytesEach = bytesEach;
    }

    /** Returns the name for users. */
    String plural() {
        return plural;
    }

    /** Returns the maximum number for a tenant. */
    public int most() {
        return most;
    }

    /** Bytes of the host's memory that one takes, without what varies. */
    public int bytesEach() {
        return bytesEach;
    }

    /** Returns the kind of object as which a handle of this kind counts. */
    public static Countable of(HandleKind kind) {
        return switch (kind) {
            case STREAM -> STREAM;
            case EVENT -> EVENT;
            case MODULE, LIBRARY -> PROGRAM;
            case FUNCTION, KERNEL -> FUNCTION;
            case LINKER -> LINKER;
            case POOL -> POOL;
            case ALLOCATION -> ALLOCATION;
            case ARRAY, MIPMAP -> ARRAY;
            case TEXTURE, SURFACE, TEXREF, SURFREF -> TEXTURE;
            case GRAPH -> GRAPH;
            case GRAPH_NODE -> NODE_HANDLE;
            case GRAPH_EXEC -> EXECUTABLE_GRAPH;
            case CONTEXT, USER_OBJECT, GREEN_CONTEXT, RESOURCE, FOREIGN -> OTHER;
        };
    }
}
