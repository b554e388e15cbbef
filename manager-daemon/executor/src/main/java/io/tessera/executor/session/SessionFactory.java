package io.tessera.executor.session;

import com.sun.management.OperatingSystemMXBean;
import io.tessera.clock.NanoClock;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.driver.CallGate;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DeviceSnapshot;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.FencingService;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.image.ImageOffers;
import io.tessera.executor.image.ImageStore;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.ipc.Exports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.DeviceAddresses;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.pool.GraphRanges;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.print.PrintedText;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.quota.HostBudget;
import io.tessera.executor.quota.TenantAccount;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.executor.part.ClientPart;
import io.tessera.executor.part.PartKeeper;
import io.tessera.executor.part.ProcessorParts;
import io.tessera.executor.stream.MoveTime;
import io.tessera.executor.swap.HostFrames;
import io.tessera.executor.window.ClientWindow;
import io.tessera.executor.window.TenantWindows;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.memory.residency.HostBackingBudget;
import io.tessera.os.FilePort;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import io.tessera.os.memory.HostMemorySource;
import io.tessera.os.memory.OwnHostMemory;
import io.tessera.protocol.message.TenantName;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the segment and the session of an admitted client. One owner thread: that of the connections. */
public final class SessionFactory {
    /** Bound on images that programs hand over in files. By default the heap may take a quarter of the machine's memory, and these an eighth. */
    private static final long MOST_KEPT_BYTES = Runtime.getRuntime().maxMemory() / 2;

    private static final Logger LOG = LoggerFactory.getLogger(SessionFactory.class);

    private final DeviceContext device;
    private final DeviceSnapshot snapshot;
    private final SharedMemoryPort memory;
    private final FilePort files;
    private final FutexPort futex;
    private final NanoClock clock;
    private final int pid;
    private final int managerUid;
    private final PrintedText text;
    private final FencingService fencing;
    private final CallGate gate = new CallGate();
    private final SynchronizationGate synchronization;
    private final MoveTime moves;
    private final ProcessorParts parts;
    private final PartKeeper keeper;
    private final ImageStore store = new ImageStore(Linux.foreignFiles(), InstantSource.system(), MOST_KEPT_BYTES);
    private final TenantWindows windows;
    private final Exports exports = new Exports();
    private final Map<String, TenantMemory> tenants = new ConcurrentHashMap<>();
    private final HostBudget budget = HostBudget.ofHeap(Runtime.getRuntime().maxMemory());
    private final HostBudget forData = HostBudget
            .ofMachine(((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize());
    private final Map<String, TenantAccount> accounts = new ConcurrentHashMap<>();

    /**
     * A session that has not begun, and what the caller owns.
     *
     * @param session    the session
     * @param pinned     memory that the client maps, too
     * @param images     files that the client hands over, closed when the session is over
     * @param descriptor of the segment, closed when it is sent
     * @param arena      of the segment, closed when the session is over
     */
    public record Made(ClientSession session, PinnedMemory pinned, ImageOffers images, int descriptor, Arena arena) {
    }

    /** Creates a factory for one device, for a manager of the given user. */
    public SessionFactory(DeviceContext device, DeviceSnapshot snapshot, SharedMemoryPort memory, FilePort files,
            FutexPort futex, NanoClock clock, int pid, int managerUid, PrintedText text,
            FencingService fencing) {
        this.device = device;
        this.snapshot = snapshot;
        this.memory = memory;
        this.files = files;
        this.futex = futex;
        this.clock = clock;
        this.pid = pid;
        this.managerUid = managerUid;
        this.text = text;
        this.fencing = fencing;
        this.synchronization = new SynchronizationGate(clock);
        this.moves = snapshot.software() ? MoveTime.ofSoftware()
                : MoveTime.ofGpu(snapshot.attribute(DeviceAttribute.MEMORY_CLOCK_RATE), snapshot.attribute(DeviceAttribute.GLOBAL_MEMORY_BUS_WIDTH));
        this.parts = ProcessorParts.make(device);
        this.keeper = new PartKeeper(parts, clock);
        DeviceAddresses range = DeviceAddresses.of(device.ordinal(), device.count());
        this.windows = new TenantWindows(device, snapshot.totalBytes(), clock,
                new WindowSpace(range.first(), range.end() - range.first()), frames(memory, files));
    }

    private static HostFrames frames(SharedMemoryPort memory, FilePort files) {
        HostMemorySource host = new OwnHostMemory(LOG::warn);
        HostBackingBudget budget = HostBackingBudget.forHost(host.totalBytes());
        return new HostFrames(memory, files, host::availableBytes, budget.pinnedBytes(), budget.reserveBytes());
    }

    /**
     * Makes a session.
     *
     * @param member its entry among the executor's clients
     *
     * @throws LinuxException if there is no memory for its segment; nothing is left behind
     */
    public Made make(Admission.Client client, TenantPresence.Member member, Reports reports) throws LinuxException {
        return make(client, member, reports, () -> keeper.join(name(client)));
    }

    /** As above, for the executor's own client. No program waits for it, so no other client is kept off processors for it. Errors as above. */
    public Made makeOwn(Admission.Client client, TenantPresence.Member member, Reports reports) throws LinuxException {
        return make(client, member, reports, () -> new ClientPart(client.tenant()));
    }

    private Made make(Admission.Client client, TenantPresence.Member member, Reports reports, Supplier<ClientPart> part) throws LinuxException {
        TenantMemory tenant = tenants.computeIfAbsent(name(client), _ -> new TenantMemory(client.limitBytes()));
        tenant.limitBytes(client.limitBytes());
        int descriptor = memory.create("tessera-relay", RelaySegment.BYTES);
        Arena arena = Arena.ofShared();
        boolean done = false;
        try {
            RelaySegment segment = new RelaySegment(memory.map(descriptor, RelaySegment.BYTES, arena));
            segment.initialise(pid, client.clientId(), DriverEntry.values().length);
            long visible = client.limitBytes() == 0 ? snapshot.totalBytes()
                    : Math.min(client.limitBytes(), snapshot.totalBytes());
            snapshot.write(segment.device(), visible);
            segment.executorHeartbeatNs(clock.nanoTime());
            segment.publishVersion();
            ClientAccount account = new ClientAccount(accounts.computeIfAbsent(name(client), _ -> new TenantAccount(budget, forData)));
            PinnedMemory pinned = new PinnedMemory(memory, files, account, segment::notice);
            ImageOffers images = new ImageOffers(Linux.foreignFiles());
            ClientCharge charge = new ClientCharge(tenant);
            ClientPart joined = part.get();
            ClientSession session = new ClientSession(client, segment,
                    own -> state(own, client, member, segment, charge, account, pinned, images, joined), joined, futex, clock, reports);
            done = true;
            return new Made(session, pinned, images, descriptor, arena);
        } finally {
            if (!done) {
                arena.close();
                memory.close(descriptor);
            }
        }
    }

    /**
     * Changes a tenant's limit while it runs; any thread. Memory over the limit stays until it is freed.
     *
     * @param tenant     by {@link TenantName}: another user's programs with the same label keep their own limit
     * @param limitBytes 0: none
     */
    public void limit(String tenant, long limitBytes) {
        tenants.computeIfPresent(tenant, (_, known) -> {
            known.limitBytes(limitBytes);
            return known;
        });
    }

    /** Returns the tenant's name, which includes the user: another user with the same label gets no part of its window and limit. */
    String name(Admission.Client client) {
        return TenantName.of(client.tenant(), client.uid(), managerUid);
    }

    /** Returns the gate between clients with streams that wait for their programs, and clients that wait for those. */
    public SynchronizationGate synchronization() {
        return synchronization;
    }

    /** Returns the estimate of copy times, with the copies of all clients that are still to be done. */
    public MoveTime moves() {
        return moves;
    }

    /** Returns the parts of the processors on which clients run. */
    public PartKeeper parts() {
        return keeper;
    }

    /** Closes the factory. No client is left, and no client may come. */
    public void close() {
        keeper.close();
        parts.close();
    }

    /** Returns the tenants' windows. */
    public TenantWindows windows() {
        return windows;
    }

    private ClientState state(Arena arena, Admission.Client who, TenantPresence.Member member, RelaySegment segment,
            ClientCharge charge, ClientAccount account, PinnedMemory pinned, ImageOffers images, ClientPart part) {
        DriverCalls driver = new DriverCalls(device.port(), arena, gate);
        SynchronizationGate.Client stands = synchronization.enter(name(who));
        driver.waitAt(stands);
        ClientHandles handles = new ClientHandles(device.ordinal() % SegmentLayout.MAX_DEVICES, account);
        ClientStreams streams = new ClientStreams(driver, handles, moves, parts, part, clock);
        handles.deferredReleases().capturing(streams::isAnyCapturing);
        handles.deferredReleases().notices(segment::notice);
        ClientMemory owned = new ClientMemory(account);
        ClientWindow window = new ClientWindow(windows, name(who), charge.tenant(), driver, streams);
        driver.room(window::makeRoom);
        ClientFences fences = new ClientFences(who.fences(), fencing, member, window, charge, driver, segment, handles,
                streams.progress(), stands);
        streams.atWaits((stream, submission) -> fences.watchdog().pausing(stream, false, submission));
        streams.atMarks(fences.watchdog()::marked);
        streams.beforeEnd(fences.watchdog()::forget);
        streams.bounds(fences.watchdog()::mayStand, stands::isBesideSynchronizing);
        ClientPrinting printing = new ClientPrinting(driver, segment, text, who.uid(), fences::tellViolated);
        ClientPools pools = new ClientPools(window, streams, clock);
        ClientExecution execution = new ClientExecution(device, driver, handles, streams, fences, new MovedBytes(moves, window::isPinned));
        ClientAllocations allocations = new ClientAllocations(owned, charge, window, pools, new GraphMemory(pools, new GraphRanges(owned, charge)),
                new ClientExports(exports, name(who), window, owned, charge.tenant(), driver, segment));
        ClientCompletion completion = new ClientCompletion(segment, new CompletionCounters(driver, segment),
                new EventWatch(driver, segment, printing, account), printing);
        return new ClientState(execution, allocations, completion, new ClientImages(images, store), pinned, stands);
    }
}
