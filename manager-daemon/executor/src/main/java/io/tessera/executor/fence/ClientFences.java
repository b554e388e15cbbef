package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.hang.Watchdog;
import io.tessera.executor.fence.load.HoistedMemory;
import io.tessera.executor.fence.load.PlacedImage;
import io.tessera.executor.fence.load.ProgramLoader;
import io.tessera.executor.fence.load.TextureBitmap;
import io.tessera.executor.fence.load.UnfencedImages;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.FenceForm;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.MachineImages;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.report.RefusedCode;
import io.tessera.executor.fence.report.ReportPage;
import io.tessera.executor.fence.report.StrayWriteChecks;
import io.tessera.executor.fence.report.Violations;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.stream.ProgressEvents;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.image.ImageKind;
import io.tessera.protocol.relay.RelaySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All modules of one client. Loads images in their fenced form, as soon as a part of them is needed; loads images that cannot be fenced if the client's policy
 * allows it; and shows the program its modules as they would be without fences. One owner thread; the figures may be read by any thread.
 */
public final class ClientFences {
    /** The first stand-in for the handle of a module that need not be loaded yet. Stand-ins are odd, so none is the address of a driver's object. */
    private static final long FIRST_STAND_IN = 0x8000_0000_0000_0001L;

    private final FenceSettings settings;
    private final FencingService fencing;
    private final TenantPresence.Member member;
    private final WindowAccess window;
    private final ClientCharge charge;
    private final DriverCalls driver;
    private final RelaySegment segment;
    private final Map<Long, TenantModule> modules = new HashMap<>();
    /** Modules by the driver's handle; includes modules of libraries. */
    private final Map<Long, TenantModule> loaded = new HashMap<>();
    private final UnfencedImages unfenced;
    private final MachineLoads machineLoads;
    /** Stream on which the contents of modules' and kernels' memory are written. */
    private final OwnStream stream = new OwnStream();
    private final TextureBitmap textures;
    /** Variables of unloaded modules; they are freed when the client's work is done. */
    private final List<HoistedMemory> leaving = new ArrayList<>();
    private final int device;
    private final ClientKernels kernels;
    private final ClientLinks links;
    private final Watchdog watchdog;
    private final StrayWriteChecks strayWrites;
    private long nextStandIn = FIRST_STAND_IN;
    private ReportPage page;
    private Violations violations;
    private volatile long violationCount;
    private final KernelStops stops;

    /** Creates an instance for a client that has loaded nothing. */
    public ClientFences(FenceSettings settings, FencingService fencing, TenantPresence.Member member, WindowAccess window,
            ClientCharge charge, DriverCalls driver, RelaySegment segment, ClientHandles handles,
            ProgressEvents progress, SynchronizationGate.Client synchronization) {
        this.settings = settings;
        this.fencing = fencing;
        this.member = member;
        this.window = window;
        this.charge = charge;
        this.driver = driver;
        this.segment = segment;
        this.device = fencing.device();
        this.unfenced = new UnfencedImages(settings.unfenced(), member, fencing.trusted(), segment);
        this.machineLoads = new MachineLoads(settings, fencing, new MachineImages(fencing.maker().target(), window, fencing.maker().cache(),
                fencing.clock(), fencing.architectures(), fencing.loops()), fencing.trusted(), window);
        this.textures = new TextureBitmap(stream, driver);
        this.kernels = new ClientKernels(settings, member, window, unfenced, this::ofStandIn, fencing,
                new KernelVariants(new AloneModules(member.tenant(), this::windowConstants, fencing, stream, driver),
                        new NarrowModules(fencing, driver),
                        new SlicedModules(member.tenant(), settings.mode(), this::windowConstants, this::violations, fencing, stream, driver),
                        new FewBlockModules(member.tenant(), settings.mode(), this::windowConstants, fencing, stream, driver),
                        handles, driver, synchronization, device),
                handles, driver);
        this.links = new ClientLinks(fencing.maker(), member.tenant(), settings.mode(), unfenced, kernels::hasLaunched, segment);
        this.stops = new KernelStops(segment);
        this.strayWrites = new StrayWriteChecks(window, kernels::recent, segment, settings.mode());
        this.watchdog = new Watchdog(settings, member, driver, progress, fencing.doneWords(), synchronization);
    }

    /** Returns the module for a value in the client's tables; null: it runs unfenced. */
    private TenantModule ofStandIn(long value) {
        TenantModule module = modules.get(value);
        return module == null ? loaded.get(value) : module;
    }

    /** Returns the client's entry among those of the executor. */
    public TenantPresence.Member member() {
        return member;
    }

    /** Sets whether a texture or surface object belongs to the client. Returns the CUresult. */
    public int texture(long handle, boolean own) {
        return textures.set(handle, own);
    }

    /** Returns the watchdog, which supervises kernels that do not end. */
    public Watchdog watchdog() {
        return watchdog;
    }

    /** Returns the checks that find writes of its kernels to addresses without memory of a program. */
    public StrayWriteChecks strayWrites() {
        return strayWrites;
    }

    /** Reports, at the end of the program, the writes of its kernels to addresses without memory. All its work is done. Waits for a bounded time. */
    public void finish() {
        if (strayWrites.finish()) {
            kernels.launchesNoMore();
        }
    }

    /** Returns the client's kernels. */
    public ClientKernels kernels() {
        return kernels;
    }

    /**
     * Loads an image.
     *
     * @return the value that represents its handle; 0: it cannot be fenced, and the client's policy allows it to be loaded unfenced; then {@link #askedAsItIs}
     * has to be called
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public long load(ProgramSource source, CodeOptions options, boolean library) throws ProgramRefusedException {
        // A linker never makes a fat binary, and hashing a framework's would take a part of its start-up time.
        FencedProgram linked = source.images().getFirst().kind() == ImageKind.FAT_BINARY ? null
                : fencing.maker().linked(source.main(), settings.mode());
        String lacking = linked != null ? null : source.lacksPtx(fencing.maker().target().capability());
        if (lacking != null && source.isForOthers(fencing.maker().target().capability())) {
            throw new ProgramRefusedException(CudaResult.NO_BINARY_FOR_GPU, "image " + source.label() + " is for other devices alone");
        }
        if (lacking != null) {
            unfenced.decide(source, lacking, kernels.hasLaunched());
            fencing.maker().assembleAsItIs(member.tenant(), source, CodeOptions.none());
            return 0;
        }
        return linked == null && machineLoads.isPreferred(source, this::page) ? 0 : standIn(source, options, library, linked);
    }

    /** Loads an image from its PTX, now or when it is needed. */
    private long standIn(ProgramSource source, CodeOptions options, boolean library, FencedProgram linked) throws ProgramRefusedException {
        long standIn = nextStandIn;
        nextStandIn += 2;
        TenantModule module = new TenantModule(standIn, source.held(), library, options);
        module.program = linked;
        module.neverAlone = linked != null;
        if (source.isText() || linked != null) {
            realise(module);
        }
        modules.put(standIn, module);
        return standIn;
    }

    /**
     * Makes sure that an image may be kept until it is needed.
     *
     * @throws ProgramRefusedException with OUT_OF_MEMORY if the client has loaded too much that it does not use
     */
    public void room(long bytes) throws ProgramRefusedException {
        TenantModule.requireRoom(modules.values(), bytes);
    }

    /** Returns the links of the client. */
    public ClientLinks links() {
        return links;
    }

    /**
     * Returns what the driver has to load for an image that {@link #load} let through.
     *
     * @return a cubin with fences, to be passed to {@link #askedAsItIs} or {@link #loadsAsItIs}; null: the image as it is
     * @throws ProgramRefusedException if there is no memory for its variables
     */
    public PlacedImage machineCode(ProgramSource source) throws ProgramRefusedException {
        MachineLoads.Fenced fenced = machineLoads.take(source, this::page);
        if (fenced == null) {
            return null;
        }
        if (fenced.image().looks()) {
            stops.loaded(page());
        }
        PlacedImage placed = PlacedImage.place(fenced.image(), fenced.number(), window, charge, stream, driver);
        kernels.variants().narrow().add(placed, fenced.narrow());
        if (fenced.number() != 0) {
            violations().addImage(fenced.number(), source.main().bytes().byteSize() + " bytes", fenced.image().assertions());
        }
        return placed;
    }

    /**
     * Checks an image that {@link #load} let through and that is about to be loaded without fences.
     *
     * @param untaken the fenced image that the driver refused; null: there is none
     * @return the value that represents its handle, if it has PTX; 0: it is to be loaded as it is
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public long loadsAsItIs(ProgramSource source, PlacedImage untaken, CodeOptions options, boolean library) throws ProgramRefusedException {
        if (untaken != null) {
            kernels.variants().narrow().remove(untaken.number());
            untaken.memory().free(window, charge);
            violations().removeImage(untaken.number());
        }
        String lacking = source.lacksPtx(fencing.maker().target().capability());
        if (lacking == null) {
            return standIn(source, options, library, null);
        }
        unfenced.decideAsItIs(machineLoads.readable(source), lacking + ", and its machine code cannot be either");
        return 0;
    }

    /**
     * Records the driver's result for an image that {@link #load} let through; the handle is valid if it was loaded.
     *
     * @param fenced the fenced image that was given to the driver; null: the image as it is
     */
    public void askedAsItIs(int result, long handle, ProgramSource source, PlacedImage fenced) {
        unfenced.asked(result, handle, source, fenced);
    }

    /** Returns the driver's handle for a value in the client's tables; loads the module if it was not needed so far. */
    public long realised(long value) throws ProgramRefusedException {
        TenantModule module = modules.get(value);
        if (module == null) {
            return value;
        }
        realise(module);
        return module.code.handle();
    }

    /** Returns the value in the client's tables for a driver's module or library. */
    public long shown(HandleKind kind, long value) {
        TenantModule module = kind == HandleKind.MODULE || kind == HandleKind.LIBRARY ? loaded.get(value) : null;
        return module == null || module.library != (kind == HandleKind.LIBRARY) ? value : module.standIn;
    }

    private void realise(TenantModule module) throws ProgramRefusedException {
        if (module.isLoaded()) {
            return;
        }
        if (module.refused != null) {
            throw module.refused;
        }
        try {
            if (module.program == null) {
                module.program = fencing.maker().make(member.tenant(), module.source, FenceForm.of(settings.mode()), module.options, false);
            }
            place(module);
        } catch (ProgramRefusedException e) {
            if (e.result() == CudaResult.NOT_SUPPORTED && module.program == null) {
                loadAsItIs(module, e);
                return;
            }
            ProgramRefusedException refused = RefusedCode.refused("image " + module.label(), e, segment);
            module.refused = e.result() == CudaResult.OUT_OF_MEMORY ? null : refused; // it may be loaded when there is memory again
            throw refused;
        }
    }

    /** Loads an image whose PTX cannot be fenced: the client's policy decides as if it had no PTX. */
    private void loadAsItIs(TenantModule module, ProgramRefusedException why) throws ProgramRefusedException {
        boolean let = false;
        try {
            unfenced.decideAsItIs(module.source, why.getMessage(), kernels.hasLaunched());
            let = true;
            fencing.maker().assembleAsItIs(member.tenant(), machineLoads.readable(module.source), module.options);
            module.code = ProgramLoader.loadOriginal(module.source, module.library, module.options, driver);
        } catch (ProgramRefusedException e) {
            module.refused = let ? RefusedCode.both(module.label(), why, e, segment) : new ProgramRefusedException(why.result(), e.getMessage());
            throw module.refused;
        }
        module.asItIs = true;
        module.neverAlone = true;
        loaded.put(module.code.handle(), module);
        unfenced.loaded(module.code.handle(), module.source, null);
        module.dropSource();
    }

    private void place(TenantModule module) throws ProgramRefusedException {
        module.memory = HoistedMemory.place(module.program.tables().stream().map(FencedTables::variables).toList(), window, charge, stream, driver);
        LoadedCode code = null;
        boolean done = false;
        try {
            code = loadCode(module);
            module.addedConstantBytes = ProgramLoader.fill(code, module.program, windowConstants(settings.mode()), module.memory, stream, driver);
            done = true;
        } finally {
            if (!done) {
                if (code != null) {
                    code.unload(driver);
                }
                module.memory.free(window, charge);
            }
        }
        module.code = code;
        loaded.put(code.handle(), module);
        violations().add(module.program);
        if (module.program.keepsState() || settings.alwaysFenced() || module.neverAlone) {
            module.endAlone(fencing.comesInParts());
        }
    }

    private LoadedCode loadCode(TenantModule module) throws ProgramRefusedException {
        try {
            return ProgramLoader.load(module.program, module.library, module.options, driver);
        } catch (ProgramRefusedException e) {
            if (!module.program.cached() || module.source == null || module.neverAlone) {
                throw e;
            }
            module.program = fencing.maker().make(member.tenant(), module.source, FenceForm.of(settings.mode()), module.options, true);
            return ProgramLoader.load(module.program, module.library, module.options, driver);
        }
    }

    private ReportPage page() throws ProgramRefusedException {
        if (page == null) {
            ReportPage made = ReportPage.make(driver, device);
            page = made;
            member.turn().onHalt(() -> halt(made));
        }
        return page;
    }

    /** Returns the constants that tell a module of the client where the window is. */
    private byte[] windowConstants(FenceMode mode) throws ProgramRefusedException {
        stops.loaded(page());
        return new WindowConstants(mode, window.baseAddress(), window.sizeBytes(), page.reportArea(), page.stopWord(), textures.address()).bytes();
    }

    private Violations violations() {
        violations = violations == null ? new Violations(page, segment) : violations;
        return violations;
    }

    /** Records that a library was asked for its module. */
    public void moduleOfLibrary(long library, long module) {
        TenantModule known = loaded.get(library);
        if (known != null) {
            loaded.put(module, known);
        }
        unfenced.moduleOf(library, module);
    }

    /**
     * Returns address and size of a variable that was moved out of its module.
     *
     * @param handle the driver's handle of a module or library
     * @return null: the driver knows whether there is such a variable
     * @throws ProgramRefusedException if the program must not know it, or cannot have its address
     */
    public long[] global(long handle, String name) throws ProgramRefusedException {
        TenantModule module = loaded.get(handle);
        if (module == null || module.asItIs) {
            long[] inWindow = unfenced.variable(handle, name);
            if (inWindow == null) {
                kernels.variants().shares(unfenced.number(handle));
            }
            return inWindow;
        }
        if (name.startsWith(WindowConstants.PREFIX)) {
            throw new ProgramRefusedException(CudaResult.NOT_FOUND, "no variable of the program");
        }
        HoistedMemory.Place place = module.memory.find(name);
        if (place == null) {
            return null;
        }
        if (place.variable().managed()) {
            throw ProgramRefusedException.toTell(CudaResult.NOT_SUPPORTED,
                    "managed variable " + name + " is not supported in space sharing" + ProgramRefusedException.REMEDY);
        }
        return new long[] {module.memory.address(place), place.variable().sizeBytes()};
    }

    /** Returns whether kernels of a module may report, so that synchronization has to wait until the reports were read. */
    public boolean reports(long value) {
        TenantModule module = modules.get(value);
        return module == null ? unfenced.reports(value) : module.program != null && module.program.reports();
    }

    /**
     * Checks a kernel that is requested by name.
     *
     * @param handle the driver's handle of a module or library
     * @throws ProgramRefusedException if the original has it and it could not be fenced; the user was told
     */
    public void kernel(long handle, String name) throws ProgramRefusedException {
        TenantModule module = loaded.get(handle);
        if (module != null && !module.asItIs && name.startsWith(WindowConstants.PREFIX)) {
            throw new ProgramRefusedException(CudaResult.NOT_FOUND, "no kernel of the program");
        }
        String refusal = module == null || module.asItIs ? null : module.program.refusal(name);
        if (refusal != null) {
            throw RefusedCode.refused("kernel " + name + " of image " + module.label(),
                    new ProgramRefusedException(CudaResult.NOT_SUPPORTED, refusal), segment);
        }
    }

    /** Returns whether kernels of all modules that are loaded may run in clusters. */
    public boolean allKnowClusters() {
        return loaded.values().stream().allMatch(module -> module.asItIs || module.program.clusters());
    }

    /** Ends a module or library, by what the client's tables hold. Returns the CUresult. */
    public int unload(long value, boolean library) {
        TenantModule module = modules.remove(value);
        if (module == null) {
            int result = ProgramLoader.unload(value, library, driver);
            if (result == CudaResult.SUCCESS) {
                unfenced.unloaded(value).ifPresent(this::leave);
            }
            return result;
        }
        loaded.values().removeIf(known -> known == module);
        kernels.unloaded(module);
        int result = module.unloadVariants(driver);
        if (module.isLoaded()) {
            int own = module.code.unload(driver);
            result = result == CudaResult.SUCCESS ? own : result;
            if (module.asItIs) {
                unfenced.unloaded(module.code.handle());
            } else {
                leaving.add(module.memory);
            }
        }
        return result;
    }

    /** Removes an image. Reports of its threads are passed on first, while it is known what they mean. */
    private void leave(PlacedImage image) {
        kernels.variants().narrow().remove(image.number());
        leaving.add(image.memory());
        tellViolated();
        violations().removeImage(image.number());
    }

    /** Returns whether memory waits for the client's work to be done. */
    public boolean isLeaving() {
        return !leaving.isEmpty();
    }

    /** Frees objects that waited for the client to have no work, which is the case now. */
    public void quiet() {
        leaving.forEach(memory -> memory.free(window, charge));
        leaving.clear();
    }

    /** Checks whether kernels reported an error. Returns the CUresult, sticky. */
    public int violated() {
        int result = page == null ? CudaResult.SUCCESS : violations().look();
        long count = page == null ? 0 : page.count();
        result = result == CudaResult.SUCCESS ? strayWrites.look() : result;
        violationCount = result == CudaResult.SUCCESS ? 0 : Math.max(1, count);
        return result;
    }

    /** Checks as {@link #violated} does, and notifies the client before it learns that its work is done: a waiting thread checks for errors then. */
    public void tellViolated() {
        int result = violated();
        if (result != CudaResult.SUCCESS) {
            segment.contextError(result);
        }
    }

    /** Orders kernels to end, called by another thread than the owner: the client must be notified before it learns that its work is done. */
    private void halt(ReportPage made) {
        segment.contextError(CudaResult.LAUNCH_TIMEOUT);
        made.halt();
    }

    /** Returns what orders the client's kernels to end. */
    public KernelStops stops() {
        return stops;
    }

    /** Returns the figures of the client's fences. Any thread. */
    public FenceFigures figures() {
        return new FenceFigures(settings.label(), unfenced.figures(), violationCount, kernels.nativeLaunches(), kernels.partLaunches(),
                kernels.fewBlockLaunches());
    }

    /** Frees what unloaded modules have left, when the client's work is done and its modules are unloaded. */
    public void close() {
        quiet();
        kernels.variants().narrow().close();
        textures.close();
        stream.close(driver);
        watchdog.close();
        if (page != null) {
            stops.loaded(null);
            page.close();
            page = null;
        }
    }
}
