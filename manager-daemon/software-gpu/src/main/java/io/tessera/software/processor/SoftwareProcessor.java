package io.tessera.software.processor;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.software.execution.DeviceHeap;
import io.tessera.software.execution.GridRunner;
import io.tessera.software.execution.GridState;
import io.tessera.software.fault.KernelFailure;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.launch.DeviceOutput;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchRefusedException;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.lowering.PtxProgram;
import io.tessera.software.memory.AddressKind;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.Kernel;
import io.tessera.software.texture.TextureUnit;
import io.tessera.software.texture.TextureView;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A software GPU: memory, modules, launches. Thread-safe; several launches may run at once and then share the worker
 * threads. Order between launches is the caller's affair.
 */
public final class SoftwareProcessor implements AutoCloseable {
    /** Size of the words for grid-wide barriers: a size, then the barrier itself, which starts at zero. */
    private static final int WORKSPACE_BYTES = 512;

    /** Alignment of parameter buffers; larger than that of any parameter. */
    private static final long PARAMETER_ALIGN = 512;

    private final ProcessorOptions options;
    private final DeviceMemory memory;
    private final DeviceHeap heap;
    private final ExecutorService pool;
    private volatile TextureUnit textures = TextureUnit.NONE;
    private final AtomicLong launches = new AtomicLong();

    /**
     * Starts a device.
     *
     * @throws io.tessera.software.memory.HostMemoryException if the host has no address space for its memory
     */
    public SoftwareProcessor(ProcessorOptions options) {
        this.options = options;
        this.memory = new DeviceMemory(options.memoryBytes());
        this.heap = new DeviceHeap(memory, options.limits().heapBytes());
        AtomicLong number = new AtomicLong();
        this.pool = Executors.newFixedThreadPool(Math.max(1, options.workers()), task -> {
            Thread thread = new Thread(task, "software-gpu-" + number.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Returns its configuration. */
    public ProcessorOptions options() {
        return options;
    }

    /** Sets the unit that looks up handles of textures and surfaces, for launches that begin later. */
    public void useTextures(TextureUnit unit) {
        textures = unit;
    }

    /** Returns its memory. */
    public DeviceMemory memory() {
        return memory;
    }

    /**
     * Loads a module from PTX text.
     *
     * @throws PtxException if it is not PTX
     * @throws io.tessera.software.program.UnsupportedPtxException if a variable is of a kind that is lacking
     * @throws io.tessera.software.memory.OutOfDeviceMemoryException if its variables do not fit
     */
    public LoadedModule load(String ptx) throws PtxException {
        return load(PtxProgram.parse(ptx));
    }

    /** Loads a module that has been parsed; errors as {@link #load(String)}. */
    public LoadedModule load(PtxModule ptx) {
        return load(PtxProgram.of(ptx));
    }

    private LoadedModule load(PtxProgram program) {
        return ModuleLoader.load(memory, options.translator(), program);
    }

    /**
     * Looks whether a launch is possible; what {@link #launch} refuses is refused here.
     *
     * @throws LaunchRefusedException if the device cannot do the launch as asked
     */
    public void check(LoadedKernel loaded, LaunchSpec spec) {
        LaunchValidator.of(loaded.kernel(), spec, options.limits());
    }

    /**
     * Runs a grid to its end, on the calling thread and on worker threads.
     *
     * @param bound   the bindings of the module's texture and surface references, by their addresses
     * @param output  takes what the kernel prints
     * @param control lets another thread stop the grid
     * @throws LaunchRefusedException as {@link #check}
     * @throws KernelFault if a fault of a thread ends its grid
     * @throws KernelFailure if the device could not run it to its end
     */
    public LaunchOutcome launch(LoadedKernel loaded, LaunchSpec spec, TextureUnit bound, DeviceOutput output,
            GridControl control) {
        TextureUnit objects = textures;
        TextureUnit references = loaded.variables().references(bound);
        TextureUnit known = references == TextureUnit.NONE ? objects : handle -> {
            TextureView view = references.find(handle);
            return view == null ? objects.find(handle) : view;
        };
        Kernel kernel = loaded.kernel();
        LaunchValidator check = LaunchValidator.of(kernel, spec, options.limits());
        long parameters = 0;
        long workspace = 0;
        try {
            if (kernel.parameterBytes() > 0) {
                parameters = memory.allocate(kernel.parameterBytes(), PARAMETER_ALIGN, AddressKind.PARAM);
                RealMemory.put(parameters, spec.parameters());
            }
            if (spec.cooperative()) {
                workspace = memory.allocate(WORKSPACE_BYTES);
            }
            GridState.Launch launch = new GridState.Launch(kernel, spec.grid(), spec.block(), check.cluster(),
                    check.explicitCluster(), launches.incrementAndGet(), parameters, spec.dynamicSharedBytes(),
                    workspace, loaded.variables().stopWord());
            GridState grid = new GridState(launch, new GridState.Device(memory.map(), options.limits(), heap, known,
                    options.clock()), output, control);
            return new GridRunner(grid, loaded.program(), memory, options.workers()).run(pool);
        } catch (KernelFault fault) {
            throw fault;
        } catch (RuntimeException | LinkageError | VirtualMachineError failure) {
            throw new KernelFailure(failure, loaded.variables().failureReport().write(memory.map()));
        } finally {
            if (parameters != 0) {
                memory.free(parameters);
            }
            if (workspace != 0) {
                memory.free(workspace);
            }
        }
    }

    /** As above, for a module without texture and surface references. */
    public LaunchOutcome launch(LoadedKernel loaded, LaunchSpec spec, DeviceOutput output, GridControl control) {
        return launch(loaded, spec, TextureUnit.NONE, output, control);
    }

    /** Ends the worker threads and gives the memory back; no grid may be running. */
    @Override
    public void close() {
        pool.close();
        memory.close();
    }
}
