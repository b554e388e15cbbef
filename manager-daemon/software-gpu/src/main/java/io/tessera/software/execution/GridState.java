package io.tessera.software.execution;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.DeviceOutput;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.StopWord;
import io.tessera.software.memory.MemoryFault;
import io.tessera.software.memory.MemoryMap;
import io.tessera.software.program.Kernel;
import io.tessera.software.texture.TextureUnit;

/** One launch while it runs. Immutable except for the output; shared by all its threads. */
public final class GridState {
    /** The kernel. */
    public final Kernel kernel;
    /** Blocks per dimension. */
    public final Dim3 grid;
    /** Threads per dimension of a block. */
    public final Dim3 block;
    /** Blocks per dimension of a cluster; one where there is none. */
    public final Dim3 cluster;
    /** Whether the launch or the kernel asked for clusters. */
    public final boolean explicitCluster;
    /** Number of the launch. */
    public final long gridId;
    /** Real address of the parameter buffer. */
    public final long parameterBase;
    /** Shared memory beyond the kernel's variables. */
    public final int dynamicSharedBytes;
    /** Real address of the words that grid-wide barriers use; 0 unless the launch is cooperative. */
    public final long workspace;
    /** Memory that kernels may access. */
    public final MemoryMap map;
    /** Limits of launches. */
    public final DeviceLimits limits;
    /** malloc and free. */
    public final DeviceHeap heap;
    /** Texture and surface objects. */
    public final TextureUnit textures;
    /** Time. */
    public final DeviceClock clock;
    /** Stops the grid. */
    final GridControl control;
    /** Local memory of each thread. */
    final int localBytes;
    /** Ends threads that wait for others. */
    final StopWord stop;
    private final DeviceOutput output;

    /** Parts of the state that come from the launch; named like the fields. */
    public record Launch(Kernel kernel, Dim3 grid, Dim3 block, Dim3 cluster, boolean explicitCluster, long gridId,
            long parameterBase, int dynamicSharedBytes, long workspace, StopWord stop) {
    }

    /** Parts of the state that come from the device; named like the fields. */
    public record Device(MemoryMap map, DeviceLimits limits, DeviceHeap heap, TextureUnit textures,
            DeviceClock clock) {
    }

    /** Puts a launch together. */
    public GridState(Launch launch, Device device, DeviceOutput output, GridControl control) {
        this.kernel = launch.kernel();
        this.grid = launch.grid();
        this.block = launch.block();
        this.cluster = launch.cluster();
        this.explicitCluster = launch.explicitCluster();
        this.gridId = launch.gridId();
        this.parameterBase = launch.parameterBase();
        this.dynamicSharedBytes = launch.dynamicSharedBytes();
        this.workspace = launch.workspace();
        this.stop = launch.stop();
        this.map = device.map();
        this.limits = device.limits();
        this.heap = device.heap();
        this.textures = device.textures();
        this.clock = device.clock();
        this.output = output;
        this.control = control;
        int stack = kernel.unboundedStack() ? kernel.localBytes() + limits.stackBytes() : kernel.localBytes();
        this.localBytes = stack + 15 & -16;
    }

    /** Prints; one at a time. */
    public void print(byte[] text) {
        synchronized (output) {
            output.print(text);
        }
    }

    /** Returns whether all blocks are to be alive together. */
    boolean isCooperative() {
        return workspace != 0;
    }

    /** Shared memory of a block in bytes: static and dynamic. */
    public int sharedBytes() {
        return kernel.staticSharedBytes() + dynamicSharedBytes;
    }

    /**
     * Real address of kernel parameters.
     *
     * @throws MemoryFault if the access is misaligned or outside
     */
    public long parameter(long offset, int bytes) {
        if ((offset & bytes - 1) != 0) {
            throw new MemoryFault(true, offset, "access to kernel parameters");
        }
        if (offset < 0 || offset > kernel.parameterBytes() - bytes) {
            throw new MemoryFault(false, offset, "access to kernel parameters");
        }
        return parameterBase + offset;
    }
}
