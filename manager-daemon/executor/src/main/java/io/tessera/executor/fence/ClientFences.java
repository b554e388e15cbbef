package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.RelaySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All modules of one client: loads what can be fenced in its fenced form, when something of it is needed, lets through by
 * the client's policy what cannot, and keeps what the program sees as it would be without. One owner thread; the figures may
 * be read by any.
 */
public final class ClientFences {
    /** Stand-ins of modules that need not be loaded yet: odd, and in no driver's address space. */
    private static final long FIRST_STAND_IN = 0x8000_0000_0000_0001L;
    private static final Logger LOG = LoggerFactory.getLogger(ClientFences.class);

    private final FenceSettings settings;
    private final FenceOffice office;
    private final Company.Member member;
    private final WindowAccess window;
    private final ClientCharge charge;
    private final DriverCalls driver;
    private final RelaySegment segment;
    private final Map<Long, TenantModule> modules = new HashMap<>();
    /** By the driver's handle; also modules of libraries. */
    private final Map<Long, TenantModule> loaded = new HashMap<>();
    /** Handles of images that run as they are, and why they may. */
    private final Map<Long, UnfencedPolicy> unfenced = new HashMap<>();
    /** Variables of modules that are gone; they go when the client's work is done. */
    private final List<HoistedMemory> leaving = new ArrayList<>();
    private final int device;
    private final ClientMemory memory;
    private final ClientKernels kernels;
    private long nextStandIn = FIRST_STAND_IN;
    private ReportPage page;
    private Violations violations;
    private volatile int unfencedImages;
    private volatile long violationCount;

    /** A client that has loaded nothing. */
    public ClientFences(FenceSettings settings, FenceOffice office, Company.Member member, WindowAccess window,
            ClientCharge charge, ClientMemory memory, DriverCalls driver, RelaySegment segment, ClientHandles handles) {
        this.settings = settings;
        this.office = office;
        this.member = member;
        this.window = window;
        this.charge = charge;
        this.driver = driver;
        this.segment = segment;
        this.memory = memory;
        this.device = office.device();
        this.kernels = new ClientKernels(this, handles, driver);
    }

    FenceSettings settings() {
        return settings;
    }

    /** The driver's number of the device. */
    int device() {
        return device;
    }

    /** Whether an address is in the tenant's window or is memory of the client. */
    boolean owns(long address) {
        return window.contains(address, 1) || memory.contains(address, 1);
    }

    /** The module that the client's tables hold so; null: it runs as it is. */
    TenantModule ofStandIn(long value) {
        TenantModule module = modules.get(value);
        return module == null ? loaded.get(value) : module;
    }

    /** Who the client is among the others. */
    public Company.Member member() {
        return member;
    }

    WindowAccess window() {
        return window;
    }

    /** Its kernels. */
    public ClientKernels kernels() {
        return kernels;
    }

    /**
     * An image is to be loaded.
     *
     * @return what stands for its handle; 0: it cannot be fenced, and the client's policy lets it be loaded as it is; then
     *         {@link #loadedAsItIs} is told
     * @throws ProgramRefusedException if it must not be loaded; the user was told
     */
    public long load(ProgramSource source, CodeOptions options, boolean library) throws ProgramRefusedException {
        String label = ImageLabel.of(source.whole());
        FencedProgram linked = office.maker().linked(source.whole(), settings.mode());
        String lacking = linked != null ? null : source.lacksPtx(office.maker().target().capability());
        if (lacking != null) {
            decide(source, label, lacking);
            return 0;
        }
        long standIn = nextStandIn;
        nextStandIn += 2;
        TenantModule module = new TenantModule(standIn, source, library, options, label);
        module.program = linked;
        if (source.isText() || linked != null) {
            realise(module);
        }
        modules.put(standIn, module);
        return standIn;
    }

    /** Lets an image pass that cannot be fenced, or not. */
    private void decide(ProgramSource source, String label, String lacking) throws ProgramRefusedException {
        String what = "image " + label + " cannot be fenced: " + lacking;
        switch (settings.unfenced()) {
            case OWN -> {
                if (!member.isAmongItsOwn()) {
                    refuse(what + "; other users' programs share the device, so it is refused");
                }
            }
            case TRUSTED -> {
                if (!office.trusted().contains(source.whole())) {
                    refuse(what + ", and is not trusted (tessera fence --trust)");
                }
            }
            case TIME -> {
                if (kernels.hasLaunched()) {
                    refuse(what + ", and kernels have run already, so that the program cannot start again: run it with "
                            + "--share time");
                }
                LOG.info("{}: the program is asked to start again in time sharing", what);
                segment.askForTimeSharing();
                throw new ProgramRefusedException(ProgramRefusedException.NO_BINARY, what);
            }
            case REFUSE -> refuse(what + "; run it with --share time, or see --unfenced");
        }
    }

    private void refuse(String why) throws ProgramRefusedException {
        LOG.warn("{}", why);
        segment.notice(why);
        throw new ProgramRefusedException(ProgramRefusedException.NO_BINARY, why);
    }

    /** The driver has loaded what {@link #load} let through. */
    public void loadedAsItIs(long handle) {
        unfenced.put(handle, settings.unfenced());
        countUnfenced();
    }

    private void countUnfenced() {
        unfencedImages = unfenced.size();
        member.unfencedImages((int) unfenced.values().stream().filter(UnfencedPolicy.OWN::equals).count());
    }

    /** Images that run as they are. */
    public int unfencedImages() {
        return unfencedImages;
    }

    /** The driver's handle for what the client's tables hold; loads what was not needed so far. */
    public long realised(long value) throws ProgramRefusedException {
        TenantModule module = modules.get(value);
        if (module == null) {
            return value;
        }
        realise(module);
        return module.handle;
    }

    /** What the client's tables hold for a driver's module or library. */
    public long shown(HandleKind kind, long value) {
        if (kind != HandleKind.MODULE && kind != HandleKind.LIBRARY) {
            return value;
        }
        TenantModule module = loaded.get(value);
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
                module.program = office.maker().make(module.source, settings.mode(), module.options, false, driver);
            }
            place(module);
        } catch (ProgramRefusedException e) {
            module.refused = e;
            LOG.warn("image {} is refused ({}): {}", module.label, e.result(), e.getMessage());
            segment.notice("image " + module.label + " is refused: " + e.getMessage());
            throw e;
        }
    }

    private void place(TenantModule module) throws ProgramRefusedException {
        byte[] constants = windowConstants(settings.mode());
        module.memory = HoistedMemory.place(module.program.tables(), window, charge, driver);
        long handle = 0;
        boolean done = false;
        try {
            handle = loadCode(module);
            ProgramLoader.fill(handle, module.library, module.program, constants, module.memory, driver);
            done = true;
        } finally {
            if (!done) {
                if (handle != 0) {
                    ProgramLoader.unload(handle, module.library, driver);
                }
                module.memory.free(window, charge);
            }
        }
        module.handle = handle;
        loaded.put(handle, module);
        violations().add(module.program);
        if (module.program.keepsState() || settings.fenceAlone() || module.source.images().isEmpty()) {
            module.neverAlone = true;
            module.source = null;
        }
    }

    private long loadCode(TenantModule module) throws ProgramRefusedException {
        try {
            return ProgramLoader.load(module.program, module.library, driver);
        } catch (ProgramRefusedException e) {
            if (!module.program.ahead()) {
                throw e;
            }
            module.program = office.maker().make(module.source, settings.mode(), module.options, true, driver);
            return ProgramLoader.load(module.program, module.library, driver);
        }
    }

    private byte[] windowConstants(FenceMode mode) throws ProgramRefusedException {
        if (page == null) {
            page = ReportPage.make(driver);
        }
        return new WindowConstants(mode, window.baseAddress(), window.sizeBytes(), page.reportArea(), page.stopWord(), 0)
                .bytes();
    }

    private Violations violations() {
        if (violations == null) {
            violations = new Violations(page, segment);
        }
        return violations;
    }

    /** The module that a driver's handle belongs to; null: none of the fenced ones. */
    TenantModule ofHandle(long handle) {
        return loaded.get(handle);
    }

    /** A library was asked for its module. */
    public void moduleOfLibrary(long library, long module) {
        TenantModule known = loaded.get(library);
        if (known != null) {
            loaded.put(module, known);
        }
    }

    /**
     * Address and size of a variable that was hoisted.
     *
     * @param handle the driver's, of a module or library
     * @return null: the driver knows whether there is such a one
     * @throws ProgramRefusedException if the program must not know it, or cannot have its address
     */
    public long[] global(long handle, String name) throws ProgramRefusedException {
        TenantModule module = loaded.get(handle);
        if (module == null) {
            return null;
        }
        if (name.startsWith(WindowConstants.PREFIX)) {
            throw new ProgramRefusedException(500, "no variable of the program");
        }
        HoistedMemory.Place place = module.memory.find(name);
        if (place == null) {
            return null;
        }
        if (place.variable().managed()) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "managed variable " + name);
        }
        return new long[] {module.memory.address(place), place.variable().sizeBytes()};
    }

    /** Whether kernels of a module may report, so that synchronising has to wait until somebody has looked. */
    public boolean reports(long value) {
        TenantModule module = modules.get(value);
        return module != null && module.program != null && module.program.reports();
    }

    /** Ends a module or library, by what the client's tables hold. Returns the CUresult. */
    public int unload(long value, boolean library) {
        TenantModule module = modules.remove(value);
        if (module == null) {
            int result = ProgramLoader.unload(value, library, driver);
            if (result == CudaResult.SUCCESS && unfenced.remove(value) != null) {
                countUnfenced();
            }
            return result;
        }
        loaded.values().removeIf(known -> known == module);
        kernels.unloaded(module);
        int result = CudaResult.SUCCESS;
        if (module.aloneHandle != 0) {
            result = ProgramLoader.unload(module.aloneHandle, false, driver);
        }
        if (module.isLoaded()) {
            int own = ProgramLoader.unload(module.handle, library, driver);
            result = result == CudaResult.SUCCESS ? own : result;
            leaving.add(module.memory);
        }
        return result;
    }

    /** Whether memory waits for the client's work to be done. */
    public boolean isLeaving() {
        return !leaving.isEmpty();
    }

    /** The client has no work now: what waited for that goes. */
    public void quiet() {
        leaving.forEach(memory -> memory.free(window, charge));
        leaving.clear();
    }

    /** Begins to make a module's code without fences, and takes it when it is there. Returns the module; 0: not now. */
    long alone(TenantModule module) {
        if (module.aloneHandle != 0 || module.neverAlone) {
            return module.aloneHandle;
        }
        if (module.alone == null) {
            module.alone = office.makeLater(module.source, module.options);
            return 0;
        }
        return module.alone.isDone() ? loadAlone(module) : 0;
    }

    private long loadAlone(TenantModule module) {
        module.neverAlone = true; // if it fails; the fenced ones serve
        module.source = null;
        try {
            FencedProgram program = module.alone.resultNow();
            long handle = ProgramLoader.load(program, false, driver);
            try {
                ProgramLoader.fill(handle, false, program, windowConstants(FenceMode.NONE), module.memory, driver);
                module.aloneHandle = handle;
                module.neverAlone = false;
                return handle;
            } finally {
                if (module.aloneHandle == 0) {
                    ProgramLoader.unload(handle, false, driver);
                }
            }
        } catch (ProgramRefusedException | IllegalStateException e) {
            LOG.info("image {} is fenced also while its tenant is alone: {}", module.label, e.getMessage());
            return 0;
        }
    }

    /** Looks whether kernels reported what is an error. Returns the CUresult, sticky. */
    public int violated() {
        if (page == null) {
            return CudaResult.SUCCESS;
        }
        int result = violations().look();
        violationCount = result == CudaResult.SUCCESS ? 0 : page.count();
        return result;
    }

    /** What was reported so far. */
    public long violationCount() {
        return violationCount;
    }

    /** Has all fenced kernels of the client end, running and to come. False: the client has none. */
    public boolean stop() {
        if (page != null) {
            page.stop();
        }
        return page != null;
    }

    /** How kernels are fenced now, for the user. */
    public String modeLabel() {
        boolean alone = !settings.fenceAlone() && !member.isShared();
        return alone ? settings.fence().label() + " (none while alone)" : settings.fence().label();
    }

    /** Frees what the modules' end has left, when the client's work is done and its modules are gone. */
    public void close() {
        quiet();
        if (page != null) {
            page.close(driver);
            page = null;
        }
    }

    /** The name of a function or kernel; empty where the driver does not tell. */
    String name(long function, boolean kernel) {
        int result = driver.call(kernel ? DriverEntry.cuKernelGetName : DriverEntry.cuFuncGetName, driver.out(0),
                function);
        return result == CudaResult.SUCCESS ? DriverText.at(driver.outLong(0)) : "";
    }
}
