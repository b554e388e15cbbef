package io.tessera.executor.fence;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.load.MachineKernel;
import io.tessera.executor.fence.load.UnfencedImages;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.report.DriverText;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.handle.TensorMaps;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.machine.PrintableText;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * Chooses the code that a client's kernels run: fenced PTX; code without a fence while the tenant is alone; or machine code, with the fences of its window or
 * of 4 GiB, or unfenced with its pointers checked. Keeps the last launches, for error reports. One owner thread; {@link #recent} may be called by any thread.
 */
public final class ClientKernels {
    /** The driver does not report how many blocks a processor holds. */
    public static final int NOT_SAID = 0;

    private static final long[] NO_MAPS = {};
    private static final int LONGEST_SHOWN = 200;
    private static final int RECENT = 16;
    private static final int MOST_NAMES = 1 << 18;

    private final FenceSettings settings;
    private final TenantPresence.Member member;
    private final WindowAccess window;
    private final UnfencedImages unfenced;
    /** Finds a module by its value in the client's tables; null: it runs unfenced. */
    private final LongFunction<TenantModule> byStandIn;
    private final Map<Long, String> names = new HashMap<>();
    private final FencingService fencing;
    private final KernelVariants variants;
    private final ClientHandles handles;
    private final DriverCalls driver;
    private final KernelOccupancy occupancy;
    private final AtomicLong nativeLaunches = new AtomicLong();
    private final AtomicLong partLaunches = new AtomicLong();
    private final AtomicLong fewBlockLaunches = new AtomicLong();
    /** A ring; read by others for a log, where a torn view does no harm. */
    private final Launchable[] recent = new Launchable[RECENT];
    private long launches;
    /** Whether the window was notified that kernels of the client may run. */
    private boolean announced;
    private boolean clusters;

    /**
     * Creates the kernels of a client that has launched nothing.
     *
     * @param unfenced  its images that run as they are
     * @param byStandIn finds the module by its value in the client's tables; null: it runs as it is
     */
    ClientKernels(FenceSettings settings, TenantPresence.Member member, WindowAccess window, UnfencedImages unfenced,
            LongFunction<TenantModule> byStandIn, FencingService fencing, KernelVariants variants, ClientHandles handles, DriverCalls driver) {
        this.settings = settings;
        this.member = member;
        this.window = window;
        this.unfenced = unfenced;
        this.byStandIn = byStandIn;
        this.fencing = fencing;
        this.variants = variants;
        this.handles = handles;
        this.driver = driver;
        this.occupancy = new KernelOccupancy(driver, fencing.device());
    }

    /** Launches of code without fences, while the tenant was alone. Any thread. */
    long nativeLaunches() {
        return nativeLaunches.getAcquire();
    }

    /** Launches of parts of grids. Any thread. */
    long partLaunches() {
        return partLaunches.getAcquire();
    }

    /** Returns how many launches ran code for few blocks. Any thread. */
    long fewBlockLaunches() {
        return fewBlockLaunches.getAcquire();
    }

    /** Returns whether a kernel may run in clusters. Throws if the handle names no kernel. */
    public boolean knowsClusters(long handle, long function) throws ProgramRefusedException {
        return knowsClusters(find(handle, function));
    }

    private static boolean knowsClusters(Launchable kernel) {
        return kernel.module == null || kernel.module.program.clusters();
    }

    /** Returns whether clusters were ever requested for a kernel whose text does not declare them. */
    public boolean hasClusters() {
        return clusters;
    }

    boolean hasLaunched() {
        return launches > 0;
    }

    /**
     * Returns the kernel that a handle of the client names.
     *
     * @param handle of a function or kernel
     * @return null: it names nothing
     * @throws ProgramRefusedException if it is not a kernel of the program
     */
    public Launchable launchable(long handle) throws ProgramRefusedException {
        boolean kernel = RelayHandle.type(handle) == HandleKind.KERNEL.number();
        HandleTable table = handles.table(kernel ? HandleKind.KERNEL : HandleKind.FUNCTION);
        if (table.attachment(handle) instanceof Launchable known) {
            return known;
        }
        long function = table.value(handle);
        return function == HandleTable.NONE ? null : find(handle, function);
    }

    /**
     * Returns the driver's function for a launch, after {@link #loads}.
     *
     * @param fenced whether the launch needs its fences: it goes into a graph, or may be stopped
     * @throws ProgramRefusedException if it must not be launched in this way
     */
    public long toLaunch(Launchable kernel, LaunchPlan launch, boolean fenced) throws ProgramRefusedException {
        announce();
        recent[(int) (launches++ % RECENT)] = kernel;
        handles.deferredReleases().namesCode(kernel.handle);
        fencing.localQuota().check(kernel.name, kernel.localBytes());
        checkLength(kernel, launch.parameterBytes());
        if (kernel.module == null) {
            try {
                withoutModule(kernel, launch.parameters(), launch.parameterBytes());
            } catch (ProgramRefusedException e) {
                kernel.launchRefused(); // the driver then loads it at a later launch
                throw e;
            }
            return fenced ? kernel.function : narrow(kernel);
        }
        checkMaps(kernel, launch.parameters(), launch.parameterBytes());
        if (!fenced && !settings.alwaysFenced() && member.mayRunNative()) {
            return alone(kernel); // without fences: no other tenant is in the context
        }
        prepare();
        return fenced ? kernel.function : forBlocks(kernel, launch);
    }

    /** Returns whether long grids are launched in parts. */
    public boolean comeInParts() {
        return fencing.comesInParts();
    }

    /** Returns whether a kernel of PTX may be launched in parts of its grid: no block of it waits for another one. */
    public boolean mayComeInParts(Launchable kernel) {
        return kernel.module != null && !kernel.mayWaitForBlocks();
    }

    /**
     * Returns the driver's function that executes a part of such a kernel's grid; begins to make it if there is none. 0: not ready; below 0: there will be
     * none.
     */
    public long partOf(Launchable kernel) {
        return variants.ofPart(kernel);
    }

    /** As {@link #loads}, for the function for parts. */
    public boolean loadsPart(Launchable kernel) {
        return kernel.launchesPart();
    }

    /**
     * Returns the driver's function for a launch of a part of a kernel's grid. Its code is loaded.
     *
     * @throws ProgramRefusedException if it must not be launched in this way
     */
    public long toLaunchPart(Launchable kernel, LaunchPlan launch) throws ProgramRefusedException {
        announce();
        recent[(int) (launches++ % RECENT)] = kernel;
        handles.deferredReleases().namesCode(kernel.handle);
        fencing.localQuota().check(kernel.name, localBytes(kernel));
        checkLength(kernel, launch.parameterBytes());
        checkMaps(kernel, launch.parameters(), launch.parameterBytes());
        prepare();
        partLaunches.setRelease(partLaunches.getPlain() + 1);
        return kernel.part.function();
    }

    /**
     * Returns the number of blocks of a kernel that a processor holds, with this many threads in each and this much dynamic shared memory, as the program
     * requests.
     *
     * @param function the launched function ({@link #toLaunch})
     * @return negative: the number in clusters; {@link #NOT_SAID}
     */
    public int blocksPerProcessor(Launchable kernel, long function, long threads, long sharedBytes) {
        return occupancy.of(kernel, function, threads, kernel.sharedBytes(function, sharedBytes));
    }

    /** Returns the dynamic shared memory of a launch for which the program requests this many bytes. Fails if it is not a kernel of the program. */
    public long sharedBytes(long handle, long function, long asked) throws ProgramRefusedException {
        return find(handle, function).sharedBytes(function, asked);
    }

    /**
     * Checks a launch in a cluster. A kernel of a module without code for clusters must not be launched in one: its shared memory is fenced differently.
     *
     * @throws ProgramRefusedException if it is such a kernel
     */
    public void inCluster(long handle, long function) throws ProgramRefusedException {
        inCluster(find(handle, function));
    }

    /** As above, for a kernel that is known. Errors as above. */
    public void inCluster(Launchable kernel) throws ProgramRefusedException {
        if (!knowsClusters(kernel)) {
            throw ProgramRefusedException.toTell(CudaResult.NOT_SUPPORTED, "kernel " + kernel.name
                    + " is launched in a cluster and is not compiled for one; compile it for clusters (__cluster_dims__), or run the program with --share time");
        }
        clusters = true;
    }

    /** Records that a kernel goes into a graph, where it stays fenced. Errors as {@link #toLaunch}. */
    public void toGraph(long clientHandle, long function, MemorySegment parameters, long bytes) throws ProgramRefusedException {
        Launchable kernel = find(clientHandle, function);
        handles.deferredReleases().namesCode(clientHandle);
        announce();
        launches++;
        fencing.localQuota().check(kernel.name, localBytes(kernel));
        checkLength(kernel, bytes);
        if (kernel.module == null) {
            withoutModule(kernel, parameters, bytes);
        } else {
            checkMaps(kernel, parameters, bytes);
            prepare();
        }
    }

    private void announce() {
        if (!announced) {
            announced = true;
            window.launches();
        }
    }

    /** Records another call than a launch, which may launch the kernels of the client's graphs. */
    public void called() {
        if (!announced && launches > 0) {
            announce();
        }
    }

    /** Records that no kernel of the client runs any more, and that their effects were checked: the client need not be checked until the next launch. */
    void launchesNoMore() {
        announced = false;
        window.launchesNoMore(true);
    }

    /** Checks the length of parameters. If the driver gets fewer bytes than the kernel's parameters, the rest could be data of another tenant's launch. */
    private static void checkLength(Launchable kernel, long bytes) throws ProgramRefusedException {
        if (bytes < kernel.parameterBytes) {
            throw ProgramRefusedException.toTell(CudaResult.INVALID_VALUE, "kernel " + kernel.name + " has " + kernel.parameterBytes
                    + " bytes of parameters, and the launch gives " + bytes + "; give all of them");
        }
    }

    private boolean isMadeHere(MemorySegment parameters, long at, long bytes) {
        return at >= 0 && at + TensorMaps.BYTES <= bytes && handles.tensorMaps().span(parameters.asSlice(at, TensorMaps.BYTES)) >= 0;
    }

    private void checkMaps(Launchable kernel, MemorySegment parameters, long bytes) throws ProgramRefusedException {
        for (long at : kernel.tensorMaps) {
            if (!isMadeHere(parameters, at, bytes)) {
                throw ProgramRefusedException.toTell(CudaResult.INVALID_VALUE,
                        "kernel " + kernel.name + " is given a tensor map that no call of this program has made"
                                + " (cuTensorMapEncodeTiled and the like), or one that was changed since; make it so"
                                + ProgramRefusedException.REMEDY.replace("; ", ", or "));
            }
        }
    }

    private void withoutModule(Launchable kernel, MemorySegment parameters, long bytes) throws ProgramRefusedException {
        boolean inside = kernel.machineMaps != null && kernel.machineMaps.lead(window, parameters, bytes) == MachineMaps.Reach.WINDOW;
        if (inside || kernel.machineMaps == null) {
            unfenced.admit(kernel.machine);
        } else {
            unfenced.admitElsewhere(kernel.machine);
            kernel.leavesWindow();
        }
        if (kernel.machineMaps != null) {
            prepare(); // fenced accesses may reach addresses without an allocation
        }
        if (!inside) {
            checkPointers(parameters, bytes);
        }
    }

    private void prepare() throws ProgramRefusedException {
        if (!window.isBacked()) {
            int result = window.backEverywhere();
            if (result != CudaResult.SUCCESS) {
                throw ProgramRefusedException.toTell(result,
                        "the device has no memory left for the addresses of this program's tenant that nothing is allocated at"
                                + "; free memory, or end other programs on this device");
            }
        }
    }

    private Launchable find(long clientHandle, long function) throws ProgramRefusedException {
        boolean kernel = RelayHandle.type(clientHandle) == HandleKind.KERNEL.number();
        HandleTable table = handles.table(kernel ? HandleKind.KERNEL : HandleKind.FUNCTION);
        if (table.attachment(clientHandle) instanceof Launchable known) {
            return known;
        }
        String name = name(function, kernel);
        TenantModule module = module(table, clientHandle);
        if (name.startsWith(WindowConstants.PREFIX)) { // Tessera's own, in whatever way the program got it
            throw new ProgramRefusedException(CudaResult.INVALID_HANDLE, "kernel " + name + " is none of the program's");
        }
        KernelAttributes attributes = new KernelAttributes(driver, fencing.device());
        Launchable found = new Launchable(clientHandle, function, name, module, module == null ? machine(table, clientHandle, name) : null,
                tensorMaps(module, name, function, kernel), attributes.parameterBytes(function, kernel));
        if (found.addedSharedBytes > 0) {
            attributes.addDynamicShared(function, kernel, found.addedSharedBytes);
        }
        table.attach(clientHandle, found);
        return found;
    }

    /**
     * Records that the program has got a function.
     *
     * @param clientHandle the client's handle for it
     * @param function     the driver's function
     * @throws ProgramRefusedException if it is not a function of the program
     */
    public void got(long clientHandle, long function) throws ProgramRefusedException {
        find(clientHandle, function);
    }

    /**
     * Checks a query of a kernel, which programs make before its first launch.
     *
     * @throws ProgramRefusedException if it is not a kernel of the program, or could not run now
     */
    public void asked(long clientHandle, long function) throws ProgramRefusedException {
        Launchable kernel = find(clientHandle, function);
        if (kernel.machine != null) {
            unfenced.ask(kernel.machine);
        }
    }

    /**
     * Resources that a kernel has beyond the program's own. They are hidden from queries, because libraries decide by them: cuFFT chooses another plan for a
     * kernel with constants.
     *
     * @param constantBytes bytes of constants
     * @param registers     of each thread, as far as it is known: of machine code
     * @param sharedBytes   bytes of dynamic shared memory
     */
    public record Added(long constantBytes, int registers, int sharedBytes) {
    }

    /**
     * Returns the resources that were added to a kernel.
     *
     * @throws ProgramRefusedException if it is not a kernel of the program
     */
    public Added added(long clientHandle, long function) throws ProgramRefusedException {
        Launchable kernel = find(clientHandle, function);
        return new Added(kernel.module == null ? 0 : kernel.module.addedConstantBytes, kernel.machine == null ? 0 : kernel.machine.addedRegisters(),
                kernel.addedSharedBytes);
    }

    /** Returns whether the driver may wait for all streams in the kernel's next launch, because it loads the kernel or makes room for its local memory. */
    public boolean loads(Launchable kernel) {
        if (!kernel.launches()) {
            return false;
        }
        int local = localBytes(kernel);
        if (RelayHandle.type(kernel.handle) == HandleKind.KERNEL.number()) {
            return true;
        }
        return fencing.deepens(local);
    }

    private int localBytes(Launchable kernel) {
        if (kernel.localBytes() < 0) {
            boolean shared = RelayHandle.type(kernel.handle) == HandleKind.KERNEL.number();
            kernel.localBytes(new KernelAttributes(driver, fencing.device()).get(kernel.function, shared, FunctionAttribute.LOCAL_SIZE_BYTES));
        }
        return kernel.localBytes();
    }

    /** Returns the offsets of tensor maps among the packed parameters. */
    private long[] tensorMaps(TenantModule module, String name, long function, boolean kernel) {
        if (module == null || module.program == null) {
            return NO_MAPS;
        }
        return module.program.tables().stream().flatMap(tables -> tables.tensorMaps().stream())
                .filter(map -> map.kernel().equals(name)).mapToLong(map -> {
                    int result = driver.call(kernel ? DriverEntry.cuKernelGetParamInfo : DriverEntry.cuFuncGetParamInfo,
                            function, map.index(), driver.out(0), driver.out(1));
                    return result == CudaResult.SUCCESS ? driver.outLong(0) + map.offsetBytes() : -1;
                }).toArray();
    }

    /** Returns the module of a function: its nearest ancestor that is a module of the client. */
    private TenantModule module(HandleTable table, long clientHandle) {
        long parent = table.parent(clientHandle);
        while (parent != 0) {
            HandleKind kind = kindOf(parent);
            TenantModule found = byStandIn.apply(handles.value(kind, parent));
            if (found != null) {
                return found.asItIs ? null : found;
            }
            parent = handles.table(kind).parent(parent);
        }
        return null;
    }

    /** Returns the facts about a kernel whose module has no PTX, or runs unfenced. */
    private MachineKernel machine(HandleTable table, long clientHandle, String name) {
        long parent = table.parent(clientHandle);
        while (parent != 0) {
            HandleKind kind = kindOf(parent);
            long image = kind == HandleKind.KERNEL ? 0 : handles.value(kind, parent);
            TenantModule asItIs = byStandIn.apply(image);
            MachineKernel found = unfenced.kernel(asItIs == null ? image : asItIs.code.handle(), name);
            if (found != null) {
                return found;
            }
            parent = handles.table(kind).parent(parent);
        }
        return unfenced.kernelFromNowhere(name);
    }

    private static HandleKind kindOf(long handle) {
        int type = RelayHandle.type(handle);
        return type == HandleKind.KERNEL.number() ? HandleKind.KERNEL : type == HandleKind.LIBRARY.number() ? HandleKind.LIBRARY : HandleKind.MODULE;
    }

    private long alone(Launchable kernel) {
        long alone = variants.of(kernel);
        if (alone == 0) {
            return kernel.function;
        }
        nativeLaunches.setRelease(nativeLaunches.getPlain() + 1);
        return alone;
    }

    private long forBlocks(Launchable kernel, LaunchPlan launch) {
        long function = variants.forBlocks(kernel, launch);
        if (function != kernel.function) {
            fewBlockLaunches.setRelease(fewBlockLaunches.getPlain() + 1);
        }
        return function;
    }

    private long narrow(Launchable kernel) {
        long narrow = kernel.variant.function() < 0 || !window.isNarrow() ? 0 : variants.of(kernel);
        return narrow != 0 && window.launchesNarrow() ? narrow : kernel.function;
    }

    /** Returns the other versions of its kernels' code. */
    KernelVariants variants() {
        return variants;
    }

    /**
     * Records that the program changes a setting of a kernel.
     *
     * @param handle the client's handle of a function or kernel
     */
    public void changed(long handle) {
        variants.changed(handle);
    }

    void unloaded(TenantModule module) {
        for (int i = 0; i < RECENT; i++) {
            Launchable known = recent[i];
            if (known != null && known.module == module) {
                recent[i] = new Launchable(known.handle, known.function, known.name, null, null, NO_MAPS, known.parameterBytes);
            }
        }
    }

    /**
     * Refuses pointers to another tenant's memory among the arguments of an unfenced kernel. Every word that could be a pointer
     * is checked. Pairs of small numbers look like addresses too, so only addresses of memory that another tenant has are refused.
     */
    private void checkPointers(MemorySegment parameters, long bytes) throws ProgramRefusedException {
        for (long at = 0; at + Long.BYTES <= bytes; at += Long.BYTES) {
            long word = parameters.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
            if (word >= WindowSpace.STANDARD_BASE && word < WindowSpace.STANDARD_END && window.isAnothers(word)) {
                throw new ProgramRefusedException(CudaResult.INVALID_VALUE, "argument at byte " + at + ", 0x"
                        + Long.toHexString(word) + ", is an address of another tenant's memory");
            }
        }
    }

    /** Names of the last kernels, the latest first, as they may be shown. */
    public List<String> recent() {
        List<String> names = new ArrayList<>();
        long last = launches;
        for (long i = last - 1; i >= Math.max(0, last - RECENT); i--) {
            Launchable kernel = recent[(int) (i % RECENT)];
            String name = kernel == null ? "" : PrintableText.of(kernel.name, LONGEST_SHOWN);
            if (kernel != null && !names.contains(name)) {
                names.add(name);
            }
        }
        return names;
    }

    /** Returns whether any of the last kernels ran without a fence. */
    public boolean ranUnfenced() {
        for (Launchable kernel : recent) {
            if (kernel != null
                    && (kernel.module == null && (kernel.machineMaps == null || kernel.hasLeftWindow())
                            || kernel.module != null && kernel.variant.exists())) {
                return true;
            }
        }
        return false;
    }

    /** Records the name by which the program has requested a function or kernel. */
    public void named(long function, String name) {
        if (names.size() < MOST_NAMES) {
            names.put(function, name);
        }
    }

    /**
     * Returns the name of a function or kernel; empty if it is unknown. The driver is asked first: a handle that it returns after a module was unloaded may
     * have named another kernel of the program before.
     */
    private String name(long function, boolean kernel) {
        int result = driver.call(kernel ? DriverEntry.cuKernelGetName : DriverEntry.cuFuncGetName, driver.out(0), function);
        return result == CudaResult.SUCCESS && driver.outLong(0) != 0 ? DriverText.at(driver.outLong(0)) : names.getOrDefault(function, "");
    }
}
