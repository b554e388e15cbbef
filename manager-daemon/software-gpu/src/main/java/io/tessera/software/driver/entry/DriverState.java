package io.tessera.software.driver.entry;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.context.Services;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.DriverMemory;
import io.tessera.software.driver.memory.Pool;
import io.tessera.software.driver.memory.VirtualAddressSpace;
import io.tessera.software.driver.module.ImageLoader;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.processor.SoftwareProcessor;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** State that the entries share: the device, its contexts, the handles. Thread-safe. */
public final class DriverState implements AutoCloseable {
    /** Wait of an allocation for memory that is freed as soon as the work before it has ended. */
    private static final long PENDING_FREE_MS = 10_000;

    private final SoftwareProcessor processor;
    private final Services services;
    private final DeviceProfile profile;
    private final DriverLog log;
    private final DriverHandles handles = new DriverHandles();
    private final VirtualAddressSpace virtual;
    private final ImageLoader loader;
    private final Pool defaultPool = new Pool(0);
    private final List<Context> contexts = new CopyOnWriteArrayList<>();
    private final ThreadLocal<ArrayDeque<Context>> stack = ThreadLocal.withInitial(ArrayDeque::new);
    private final PrimaryContext primary = new PrimaryContext(this::newContext, this::destroyContext);
    private final Map<Long, AllocationNodeMemory> graphMemory = new ConcurrentHashMap<>();
    private volatile Pool currentPool = defaultPool;

    /** State over a processor, which it owns. */
    public DriverState(SoftwareProcessor processor, Services services, DeviceProfile profile, DriverLog log) {
        this.processor = processor;
        this.services = services;
        this.profile = profile;
        this.log = log;
        virtual = new VirtualAddressSpace(services.memory());
        loader = new ImageLoader(processor, services.memory(), services.clock(),
                reason -> log.rejected("module", reason));
    }

    /** Makes modules of images. */
    public ImageLoader loader() {
        return loader;
    }

    /** Does the driver's own bookkeeping once all work of all contexts that there is now has ended. Does not wait. */
    public void whenQuiet(Runnable body) {
        Runnable next = body;
        for (Context context : contexts) {
            Runnable inner = next;
            next = () -> context.whenQuiet(inner);
        }
        next.run();
    }

    /** Returns the processor, which runs kernels. */
    public SoftwareProcessor processor() {
        return processor;
    }

    /** Memory, threads and clock. */
    Services services() {
        return services;
    }

    /** Returns the memory. */
    public DriverMemory memory() {
        return services.memory();
    }

    /** Returns the program's own virtual memory. */
    public VirtualAddressSpace virtual() {
        return virtual;
    }

    /** Returns the device's properties. */
    public DeviceProfile profile() {
        return profile;
    }

    /** Returns where lines about lost contexts go. */
    DriverLog log() {
        return log;
    }

    /** Returns the end of a kernel that loses its context. */
    public KernelLaunch.FaultReport faultReport() {
        return log;
    }

    /** Objects by handle. */
    public DriverHandles handles() {
        return handles;
    }

    /** Returns the primary context's state. */
    public PrimaryContext primary() {
        return primary;
    }

    /** Returns the pool that the device began with. */
    public Pool defaultPool() {
        return defaultPool;
    }

    /** Returns the pool that allocations without a pool come from. */
    public Pool currentPool() {
        return currentPool;
    }

    /** Sets the pool that allocations take which name none. */
    public void setCurrentPool(Pool pool) {
        currentPool = pool;
    }

    /** Returns the calling thread's stack of contexts, the current one first. */
    public ArrayDeque<Context> stack() {
        return stack.get();
    }

    /** Returns the current context, null if there is none. */
    public Context current() {
        return stack.get().peek();
    }

    /** Returns the context that a stream belongs to; ends the entry if it is gone. */
    public Context contextOf(Stream stream) {
        return handles.get(stream.context(), Context.class, CudaError.INVALID_CONTEXT);
    }

    /** Makes a context. */
    public Context newContext(int flags) {
        long handle = handles.reserve();
        Context context = new Context(services, handle, flags);
        handles.bind(handle, context);
        contexts.add(context);
        return context;
    }

    /** Ends a context. */
    public void destroyContext(Context context) {
        context.destroy();
        contexts.remove(context);
        handles.remove(context);
        stack.get().remove(context);
    }

    /** Returns all contexts. */
    List<Context> contexts() {
        return contexts;
    }

    /** Takes device memory; waits for memory that is about to be freed where there is too little. */
    public AddressRange allocate(long bytes, AddressRange.Kind kind, Context context) {
        try {
            return memory().allocate(bytes, kind, context.handle());
        } catch (DriverException e) {
            if (e.error() != CudaError.OUT_OF_MEMORY || !context.awaitQuiet(PENDING_FREE_MS)) {
                throw e;
            }
            return memory().allocate(bytes, kind, context.handle());
        }
    }

    /** Frees device memory when all work that may use it has ended; its addresses mean nothing from now on. */
    public void freeWhenQuiet(AddressRange allocation, Context context) {
        if (memory().forget(allocation)) {
            context.whenQuiet(() -> memory().giveBack(allocation));
        }
    }

    /** Memory of graphs' allocation nodes, by address. */
    public Map<Long, AllocationNodeMemory> graphMemory() {
        return graphMemory;
    }

    /** Ends everything: contexts are lost first, so that no kernel runs on. */
    @Override
    public void close() {
        for (Context context : contexts) {
            context.fault().raise(CudaError.DEINITIALIZED);
            context.drain();
        }
        services.workers().close();
        services.memory().addresses().all().forEach(allocation -> {
            if (allocation.host()) {
                memory().releaseHost(allocation);
            }
        });
        processor.close();
    }
}
