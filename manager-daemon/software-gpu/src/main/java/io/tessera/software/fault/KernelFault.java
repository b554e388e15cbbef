package io.tessera.software.fault;

import io.tessera.software.launch.Dim3;

/** A kernel did something that ends its grid. The message names kind, kernel, block, thread and address. */
public final class KernelFault extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final FaultKind kind;
    private final String kernel;
    private final transient Dim3 block;
    private final transient Dim3 thread;
    private final long address;

    /** Describes the first fault of a grid; {@code address} is 0 for a fault without an address. */
    public KernelFault(FaultKind kind, String kernel, Dim3 block, Dim3 thread, long address, Throwable cause) {
        super(kind + " in kernel " + kernel + ", block " + block + ", thread " + thread + ": " + cause.getMessage(),
                cause);
        this.kind = kind;
        this.kernel = kernel;
        this.block = block;
        this.thread = thread;
        this.address = address;
    }

    /** Returns the kind of the fault. */
    public FaultKind kind() {
        return kind;
    }

    /** Name of the kernel. */
    public String kernel() {
        return kernel;
    }

    /** Returns the block's place in the grid. */
    public Dim3 block() {
        return block;
    }

    /** Returns the thread's place in the block. */
    public Dim3 thread() {
        return thread;
    }

    /** Address of the access, or 0. */
    public long address() {
        return address;
    }
}
