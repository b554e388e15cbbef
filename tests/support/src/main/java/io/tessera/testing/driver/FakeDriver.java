package io.tessera.testing.driver;

import io.tessera.device.CudaResult;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * A driver that uses the process's own memory, and whose streams complete at once unless a test holds them. It records its calls and its
 * live objects. A kernel named {@code fill} writes its second parameter to the address in its first; one named {@code fault} loses the
 * context. Thread-safe.
 */
public final class FakeDriver implements DriverPort {

    /** Is called with every entry, on the calling thread. */
    public volatile Consumer<DriverEntry> listener = _ -> {};
    /** Names of entries called, when {@link #recording}. */
    public final List<String> calls = new CopyOnWriteArrayList<>();
    /** Whether calls are recorded. */
    public volatile boolean recording = true;
    /** While set, no stream completes. */
    public volatile boolean held;
    /** Streams that do not complete, nor do events recorded in them. */
    public final Set<Long> heldStreams = ConcurrentHashMap.newKeySet();
    /** Events of held streams that are complete, because they precede the unfinished work. */
    public final Set<Long> doneEvents = ConcurrentHashMap.newKeySet();
    /** Blocks of a cluster in the first dimension, of kernel nodes by handle. */
    public final Map<Long, Integer> nodeClusters = new ConcurrentHashMap<>();
    /** Events recorded in held streams, the oldest first. */
    public final Queue<Long> heldEvents = new ConcurrentLinkedQueue<>();
    /**
     * Whether calls that need the whole context wait for all streams, as NVIDIA's driver does, and block other submissions meanwhile. Only
     * held streams are waited for.
     */
    public volatile boolean synchronizing;
    private volatile boolean releasing;
    /** Calls of that kind that began while a stream was held. */
    public final AtomicInteger synchronizedWhileHeld = new AtomicInteger();
    /** Further entries that need the whole context while {@link #synchronizing}. */
    public final Set<DriverEntry> alsoSynchronizing = ConcurrentHashMap.newKeySet();
    /** Entries in which the calling thread fails, as in one that was not anticipated. */
    public final Set<DriverEntry> unthought = ConcurrentHashMap.newKeySet();
    /** Whether queries also wait while another call has the whole context. */
    public volatile boolean questionsWait;
    /** Addresses that streams were told to write. */
    public final Set<Long> wordsWritten = ConcurrentHashMap.newKeySet();
    /** Objects of the executor itself. */
    public final ExecutorsOwn own = new ExecutorsOwn();
    /** Whether copies and memsets are executed; a test with meaningless arguments switches them off. */
    public volatile boolean touchesMemory = true;
    /** Called when an event is synchronised, which is when drivers print. */
    public volatile Runnable printing = () -> {};
    /** While set, there are no device addresses to reserve. */
    public volatile boolean addressless;
    /** Arguments of the last cuLibraryLoadData: the image's address and the number of library options. */
    public volatile long[] library = {};
    /** Minimum time that a launch takes its caller. */
    public volatile long launchNs;
    /** Launches so far. */
    public final AtomicLong launches = new AtomicLong();
    /** Modules and libraries of functions and kernels. */
    private final Map<Long, Long> codes = new ConcurrentHashMap<>();
    /** The modules and libraries of the last functions that were launched, by their names. */
    public final Map<String, Long> launchedOf = new ConcurrentHashMap<>();
    /** Name of the last function that was launched. */
    public volatile String launched = "";
    /** The number of the last function that was looked up. */
    public volatile long lastFunction;
    /** Number for the next function that is looked up or listed; 0: a new one. */
    public volatile long reuse;
    /** Kernels that execute a part of their grid. */
    public final FakeSlices slices = new FakeSlices();
    /** Shared memory of generated entries beyond the 101 bytes of the others. */
    public volatile int sharedMore;
    private volatile int eventError;
    /** Whether it creates graphs; they record their nodes, and nothing runs. */
    public volatile boolean graphs;
    /** Whether any stream is capturing. */
    public volatile boolean capturing;
    /** Constants of fenced modules, by name, an at sign and the module's handle in hexadecimal. */
    public final Map<String, MemorySegment> constants = new ConcurrentHashMap<>();
    /** Handles of destroyed objects. */
    public final Set<Long> ended = ConcurrentHashMap.newKeySet();
    /** Live objects by kind. */
    public final Map<String, AtomicInteger> alive = new ConcurrentHashMap<>();

    /** The size of constants that it reports for a kernel of a program without fences. */
    public static final int CONSTANT_BYTES = 102;
    /** Compute capability 9.0, without managed memory. */
    private static final Map<Long, Integer> GPU_ATTRIBUTES = Map.of((long) DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, 9,
            (long) DeviceAttribute.COMPUTE_CAPABILITY_MINOR, 0, (long) DeviceAttribute.CONCURRENT_MANAGED_ACCESS, 0);
    /** The kernels that every module and library lists. */
    public volatile List<String> kernels = List.of("__tessera_checked_work", "work");

    private static final Set<DriverEntry> SYNCHRONIZING = EnumSet.of(DriverEntry.cuModuleLoadData, DriverEntry.cuModuleLoadDataEx,
            DriverEntry.cuModuleUnload, DriverEntry.cuModuleGetFunction, DriverEntry.cuLibraryUnload, DriverEntry.cuMemFree_v2,
            DriverEntry.cuMemFreeHost, DriverEntry.cuMemHostUnregister, DriverEntry.cuArrayDestroy);

    private final ReentrantLock context = new ReentrantLock();
    private final Arena arena = Arena.ofShared();
    /** Its virtual memory. */
    public final FakePages pages = new FakePages();
    private final Map<String, Set<Long>> made = new ConcurrentHashMap<>();
    private final Map<Long, String> functions = new ConcurrentHashMap<>();
    private final Map<Long, Long> eventStreams = new ConcurrentHashMap<>();
    private final AtomicLong next = new AtomicLong(0x7000_0000L);
    /** The graphs that it creates. */
    public final FakeGraphs graphSizes = new FakeGraphs(() -> next.addAndGet(16));
    /** Its processors, which can be divided; 0: they cannot. */
    public volatile int processors;
    private volatile boolean gpu;
    private volatile HandleWitness witness;
    /** Result of every call; 0: each call has its own result. */
    public volatile int lost;

    /** Makes every later creation of an event fail with this error. */
    public void failEvents(int error) {
        eventError = error;
    }

    @Override
    public String name() {
        return "fake driver";
    }

    @Override
    public boolean software() {
        return !gpu;
    }

    /** Makes it a GPU of compute capability 9.0 from now on. */
    public void isGpu() {
        gpu = true;
    }

    @Override
    public boolean supports(DriverEntry entry) {
        return true;
    }

    /** Returns the handles of a kind that were ever created. */
    public Set<Long> made(String kind) {
        return Set.copyOf(made.getOrDefault(kind, Set.of()));
    }

    /** Returns the number of live objects of a kind. */
    public int alive(String kind) {
        return alive.computeIfAbsent(kind, _ -> new AtomicInteger()).get();
    }

    private int count(String kind, int change) {
        alive.computeIfAbsent(kind, _ -> new AtomicInteger()).addAndGet(change);
        return 0;
    }

    private static long slot(MemorySegment slots, int i) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, i);
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /** Writes a result. As a driver does, refuses a null address. */
    private static int put(long address, long value) {
        if (address != 0) {
            at(address, 8).set(ValueLayout.JAVA_LONG, 0, value);
        }
        return address == 0 ? CudaResult.INVALID_VALUE : 0;
    }

    private static int putInt(long address, int value) {
        if (address != 0) {
            at(address, 4).set(ValueLayout.JAVA_INT, 0, value);
        }
        return address == 0 ? CudaResult.INVALID_VALUE : 0;
    }

    private int end(String kind, long handle) {
        ended.add(handle);
        return handle == 0 ? CudaResult.INVALID_HANDLE : count(kind, -1);
    }

    private int clusters(long node, int blocks) {
        nodeClusters.put(node, blocks);
        return 0;
    }

    private int make(String kind, long address) {
        if (address == 0) {
            return CudaResult.INVALID_VALUE;
        }
        count(kind, 1);
        long handle = next.addAndGet(16);
        made.computeIfAbsent(kind, _ -> ConcurrentHashMap.newKeySet()).add(handle);
        return put(address, handle);
    }

    private int recorded(long event, long stream) {
        eventStreams.put(event, stream);
        doneEvents.remove(event);
        if (heldStreams.contains(stream)) {
            heldEvents.add(event);
        }
        return 0;
    }

    /** Writes a word of a report page, unless the stream is held. */
    private int word(long stream, long address, int value) {
        wordsWritten.add(address);
        return own.isInReportPage(address) && !held && !heldStreams.contains(stream) ? putInt(address, value) : 0;
    }

    /** Returns a witness that checks all handles and addresses from now on; must be called before any object is created. */
    public HandleWitness watched() {
        witness = new HandleWitness(pages);
        return witness;
    }

    @Override
    public int call(DriverEntry entry, MemorySegment s) {
        if (unthought.contains(entry)) {
            throw new IllegalStateException(entry + " fails in a way that nobody has thought of");
        }
        HandleWitness watching = witness;
        if (watching == null) {
            return called(entry, s);
        }
        watching.before(entry, s);
        int result = called(entry, s);
        if (result == 0) {
            watching.after(entry, s);
        }
        return result;
    }

    private int called(DriverEntry entry, MemorySegment s) {
        listener.accept(entry);
        boolean question = entry == DriverEntry.cuEventQuery || entry == DriverEntry.cuStreamQuery;
        if (!synchronizing || question && !questionsWait) {
            return answer(entry, s);
        }
        context.lock();
        try {
            if (SYNCHRONIZING.contains(entry) || alsoSynchronizing.contains(entry)) {
                awaitStreams();
            }
            return answer(entry, s);
        } finally {
            context.unlock();
        }
    }

    /** Completes all held streams at the same moment: removed one by one, some would complete while others are still held. */
    public void release() {
        releasing = true;
        heldStreams.clear();
        releasing = false;
    }

    private void awaitStreams() {
        if (!heldStreams.isEmpty() && !releasing) {
            synchronizedWhileHeld.incrementAndGet();
        }
        while (!heldStreams.isEmpty()) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private int query(long event) {
        boolean isPending = !doneEvents.contains(event) && (held || heldStreams.contains(eventStreams.getOrDefault(event, 0L)));
        return eventError != 0 ? eventError : isPending ? CudaResult.NOT_READY : 0;
    }

    private int answer(DriverEntry entry, MemorySegment s) {
        if (recording) {
            calls.add(entry.toString());
        }
        if (lost != 0) {
            return lost;
        }
        return switch (entry) {
            case cuLaunchKernel -> slices.launchError != 0 ? slices.launchError : launch(s, 0, 8, 10);
            case cuLaunchKernelEx -> launch(s, 1, -1, 3);
            case cuStreamWriteValue64_v2 -> held ? put(slot(s, 1), 0) : put(slot(s, 1), slot(s, 2));
            case cuStreamWriteValue32_v2 -> word(slot(s, 0), slot(s, 1), (int) slot(s, 2));
            case cuStreamQuery -> held || heldStreams.contains(slot(s, 0)) ? CudaResult.NOT_READY : 0;
            case cuEventRecord -> recorded(slot(s, 0), slot(s, 1));
            case cuEventQuery -> query(slot(s, 0));
            case cuStreamCreate, cuStreamCreateWithPriority, cuGreenCtxStreamCreate -> make("stream", slot(s, 0));
            case cuStreamDestroy, cuStreamDestroy_v2 -> end("stream", slot(s, 0));
            case cuEventSynchronize -> {
                printing.run();
                yield 0;
            }
            case cuEventCreate -> make("event", slot(s, 0));
            case cuEventElapsedTime, cuEventElapsedTime_v2 -> putInt(slot(s, 0), Float.floatToIntBits(slices.elapsedMs));
            case cuEventDestroy, cuEventDestroy_v2 -> end("event", slot(s, 0));
            case cuModuleLoadDataEx, cuModuleLoadData -> make(ExecutorsOwn.isImage(slot(s, 1)) ? ExecutorsOwn.MODULE : "module", slot(s, 0));
            case cuModuleUnload -> end(made(ExecutorsOwn.MODULE).contains(slot(s, 0)) ? ExecutorsOwn.MODULE : "module", slot(s, 0));
            case cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col -> encode(slot(s, 0), slot(s, 3));
            case cuTensorMapReplaceAddress -> put(slot(s, 0), slot(s, 1));
            case cuLibraryLoadData -> library(slot(s, 0), slot(s, 1), slot(s, 7));
            case cuLibraryUnload -> end("library", slot(s, 0));
            case cuLibraryGetModule -> put(slot(s, 0), slices.module(next.addAndGet(16)));
            case cuOccupancyMaxActiveBlocksPerMultiprocessor -> putInt(slot(s, 0), slices.blocksHeld);
            case cuModuleGetFunction, cuLibraryGetKernel -> function(slot(s, 0), at(slot(s, 2), 64).getString(0), slot(s, 1));
            case cuKernelGetFunction ->
                functions.containsKey(slot(s, 1)) ? function(slot(s, 0), functions.get(slot(s, 1)), codes.getOrDefault(slot(s, 1), 0L))
                        : CudaResult.INVALID_HANDLE;
            case cuMemHostRegister_v2, cuMemHostUnregister -> count("registered", entry == DriverEntry.cuMemHostUnregister ? -1 : 1);
            case cuMemHostGetDevicePointer_v2 -> put(slot(s, 0), slot(s, 1));
            case cuMemcpyHtoDAsync_v2, cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyAsync -> copy(s);
            case cuMemcpyHtoD_v2 -> {
                pages.copy(slot(s, 0), slot(s, 1), slot(s, 2));
                yield 0;
            }
            case cuMemHostAlloc -> put(slot(s, 0), own.allocated(arena.allocate(slot(s, 1), 4096).address(), slot(s, 1)));
            case cuModuleGetGlobal_v2, cuLibraryGetGlobal -> global(slot(s, 0), slot(s, 1), slot(s, 2), at(slot(s, 3), 256).getString(0));
            case cuMemAlloc_v2 -> {
                count("memory", 1); // the executor's own memory: that of programs is mapped
                yield put(slot(s, 0), arena.allocate(slot(s, 1), 256).address());
            }
            case cuMemFree_v2 -> end("memory", slot(s, 0));
            case cuMemsetD8_v2, cuMemsetD8Async -> {
                if (touchesMemory) {
                    pages.fill(slot(s, 0), slot(s, 2), (byte) slot(s, 1));
                }
                yield 0;
            }
            default -> virtual(entry, s);
        };
    }

    private int virtual(DriverEntry entry, MemorySegment s) {
        return switch (entry) {
            case cuGreenCtxCreate -> make("part", slot(s, 0));
            case cuGreenCtxDestroy -> end("part", slot(s, 0));
            case cuDeviceGetDevResource, cuDevSmResourceSplitByCount -> ExecutorsOwn.processors(s, processors, entry);
            case cuGraphAddKernelNode_v2 -> make("node", slot(s, 0));
            case cuGraphKernelNodeGetAttribute -> putInt(slot(s, 2), slot(s, 1) == 4 ? nodeClusters.getOrDefault(slot(s, 0), 0) : 0);
            case cuGraphKernelNodeSetAttribute -> slot(s, 1) == 4 ? clusters(slot(s, 0), at(slot(s, 2), 4).get(ValueLayout.JAVA_INT, 0)) : 0;
            case cuGraphKernelNodeCopyAttributes -> clusters(slot(s, 0), nodeClusters.getOrDefault(slot(s, 1), 0));
            case cuMemAddressReserve -> addressless ? 2 : pages.reserve(slot(s, 0), slot(s, 1), slot(s, 3));
            case cuMemAddressFree -> pages.release(slot(s, 0), slot(s, 1));
            case cuMemCreate -> pages.create(slot(s, 0), slot(s, 1));
            case cuMemRelease -> pages.drop(slot(s, 0));
            case cuMemMap -> pages.map(slot(s, 0), slot(s, 1), slot(s, 2), slot(s, 3));
            case cuMemUnmap -> pages.unmap(slot(s, 0), slot(s, 1));
            case cuMemSetAccess -> pages.allow(slot(s, 0), slot(s, 1));
            default -> device(entry, s);
        };
    }

    private int device(DriverEntry entry, MemorySegment s) {
        return switch (entry) {
            case cuDeviceGetCount -> putInt(slot(s, 0), 1);
            case cuDeviceGet -> putInt(slot(s, 0), (int) slot(s, 1));
            case cuDevicePrimaryCtxRetain -> put(slot(s, 0), 0xC0);
            case cuDeviceGetUuid_v2 -> {
                at(slot(s, 0), 16).fill((byte) 7);
                yield 0;
            }
            case cuDeviceGetName -> {
                at(slot(s, 0), slot(s, 1)).setString(0, "Fake GPU");
                yield 0;
            }
            case cuDeviceTotalMem_v2 -> put(slot(s, 0), pages.capacityBytes);
            case cuMemGetAllocationGranularity -> put(slot(s, 0), FakePages.GRANULE);
            case cuDeviceGetAttribute -> gpu && GPU_ATTRIBUTES.containsKey(slot(s, 1)) ? putInt(slot(s, 0), GPU_ATTRIBUTES.get(slot(s, 1)))
                    : slot(s, 1) > 100 ? 1
                    : putInt(slot(s, 0), slot(s, 1) == DeviceAttribute.MAX_REGISTERS_PER_MULTIPROCESSOR ? 65_536 : (int) slot(s, 1) * 3);
            case cuDriverGetVersion -> putInt(slot(s, 0), 13000);
            case cuMemGetInfo_v2 -> put(slot(s, 0), pages.freeBytes()) + put(slot(s, 1), pages.capacityBytes);
            case cuStreamIsCapturing -> putInt(slot(s, 1), capturing ? 1 : 0);
            case cuModuleGetFunctionCount, cuLibraryGetKernelCount -> putInt(slot(s, 0), kernels.size());
            case cuModuleEnumerateFunctions, cuLibraryEnumerateKernels -> kernels(slot(s, 0), (int) slot(s, 1));
            case cuFuncGetName, cuKernelGetName -> put(slot(s, 0), arena.allocateFrom(functions.getOrDefault(slot(s, 1), "")).address());
            case cuFuncGetAttribute, cuKernelGetAttribute -> slot(s, 1) > 9 ? slices.blocksHeld == 0 ? 1 : putInt(slot(s, 0), 1)
                    : putInt(slot(s, 0), attribute(slot(s, 1), functions.getOrDefault(slot(s, 2), "")));
            case cuFuncGetParamInfo, cuKernelGetParamInfo -> parameter(slot(s, 0), slot(s, 1), s);
            case cuCtxGetLimit -> slot(s, 1) > 3 ? 1 : put(slot(s, 0), 1024);
            case cuCtxGetExecAffinity, cuDeviceGetLuid -> 801;
            default -> graphs && FakeGraphs.ENTRIES.contains(entry) ? graphSizes.answer(entry, s) : entry == DriverEntry.cuGraphCreate ? 801 : 0;
        };
    }

    private int library(long out, long image, long options) {
        library = new long[] {image, options};
        slices.loaded(image);
        return make("library", out);
    }

    /** A tensor map of this driver begins with its address. */
    private int encode(long map, long address) {
        at(map, 128).fill((byte) 0x5a);
        return put(map, address);
    }

    private int kernels(long out, int most) {
        for (int i = 0; i < most; i++) {
            if (i < kernels.size()) {
                function(out + 8L * i, kernels.get(i), 0);
            } else {
                put(out + 8L * i, 0);
            }
        }
        return 0;
    }

    private int attribute(long number, String function) {
        return number == 0 ? function.startsWith("__tessera_few_") ? 256 : 1024 : number == 2 ? CONSTANT_BYTES + 64 * constants.size()
                : (int) number + 100 + (number == 1 && function.startsWith("__tessera") ? sharedMore : 0);
    }

    private int function(long result, String name, long code) {
        if (name.equals("missing")) {
            return 500;
        }
        long handle = reuse != 0 ? reuse : next.addAndGet(16); // of a module that was unloaded
        lastFunction = reuse != 0 ? lastFunction : handle;
        reuse = 0;
        functions.put(handle, name);
        codes.put(handle, code);
        return put(result, handle);
    }

    /** A kernel has two parameters of eight bytes; the warm-up's has one. */
    private int parameter(long function, long index, MemorySegment s) {
        long[] found = slices.parameter(codes.get(function), "nothing".equals(functions.get(function)) ? 1 : 2, (int) index);
        return found.length == 0 ? 1 : put(slot(s, 2), found[0]) + put(slot(s, 3), found[1]);
    }

    /** Every program has each requested constant of a fenced module, of 64 bytes, and no other variables. */
    private int global(long address, long size, long module, String name) {
        if (!name.startsWith("__tessera_")) {
            return 500;
        }
        MemorySegment place = constants.computeIfAbsent(name + "@" + Long.toHexString(module), _ -> arena.allocate(64, 64));
        put(size, 64);
        return put(address, place.address());
    }

    private int launch(MemorySegment s, int functionAt, int streamAt, int extraAt) {
        String name = functions.getOrDefault(slot(s, functionAt), "");
        if (ExecutorsOwn.isKernel(name)) {
            return 0;
        }
        launches.incrementAndGet();
        for (long untilNs = System.nanoTime() + launchNs; System.nanoTime() < untilNs;) {
            Thread.onSpinWait(); // a sleeping thread would find its caches cold
        }
        launched = name;
        launchedOf.put(name, codes.getOrDefault(slot(s, functionAt), 0L));
        if (name.equals("fault")) {
            lost = CudaResult.ILLEGAL_ADDRESS;
            return 0;
        }
        if (name.equals("fill")) {
            MemorySegment extra = at(slot(s, extraAt), 40);
            MemorySegment parameters = at(extra.getAtIndex(ValueLayout.JAVA_LONG, 1), 16);
            long target = parameters.getAtIndex(ValueLayout.JAVA_LONG, 0);
            if (target != 0) { // otherwise a launch whose arguments do not matter to its test
                pages.putLong(target, parameters.getAtIndex(ValueLayout.JAVA_LONG, 1));
            }
        }
        return streamAt >= 0 && slot(s, streamAt) == 0 ? 400 : 0;
    }

    private int copy(MemorySegment s) {
        if (touchesMemory) {
            pages.copy(slot(s, 0), slot(s, 1), slot(s, 2));
        }
        return 0;
    }

    @Override
    public void close() {
        pages.close();
        arena.close();
    }
}
