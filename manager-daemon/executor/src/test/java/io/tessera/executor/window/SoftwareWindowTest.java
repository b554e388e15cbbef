package io.tessera.executor.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.quota.ClientAccount;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.executor.swap.HostFrames;
import io.tessera.guardian.window.WindowSpace;
import io.tessera.os.linux.Linux;
import io.tessera.software.driver.SoftwareDriverProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Windows on the software GPU: what kernels meet at which address. */
@Timeout(180)
class SoftwareWindowTest {
    private static final long MIB = 1L << 20;
    private static final long DEVICE_BYTES = 512 * MIB;
    private static final String STORE = """
            .version 8.0
            .target sm_80
            .address_size 64
            .visible .entry store(.param .u64 target, .param .u64 what)
            {
                .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [target];
                ld.param.u64 %rd2, [what];
                st.global.u64 [%rd1], %rd2;
                ret;
            }
            .visible .entry move(.param .u64 target, .param .u64 source)
            {
                .reg .b64 %rd<4>;
                ld.param.u64 %rd1, [target];
                ld.param.u64 %rd2, [source];
                ld.global.u64 %rd3, [%rd2];
                st.global.u64 [%rd1], %rd3;
                ret;
            }
            """;

    private final Arena arena = Arena.ofShared();
    private DriverPort port;
    private DriverCalls calls;
    private DeviceContext device;
    private TenantWindows windows;
    private long kernel;
    private long mover;

    @BeforeEach
    void open() throws Exception {
        port = new SoftwareDriverProvider().open(new DriverOptions(0, DEVICE_BYTES));
        device = DeviceContext.open(port, 0);
        calls = new DriverCalls(port, arena);
        windows = new TenantWindows(device, DEVICE_BYTES, Clocks.system().monotonic(), new WindowSpace(),
                new HostFrames(Linux.sharedMemory(), Linux.open().files(), () -> Long.MAX_VALUE, TestWindows.HOST_BYTES, 0));
        call(DriverEntry.cuModuleLoadData, calls.out(0), arena.allocateFrom(STORE).address());
        long module = calls.outLong(0);
        call(DriverEntry.cuModuleGetFunction, calls.out(0), module, arena.allocateFrom("store").address());
        kernel = calls.outLong(0);
        call(DriverEntry.cuModuleGetFunction, calls.out(0), module, arena.allocateFrom("move").address());
        mover = calls.outLong(0);
    }

    @AfterEach
    void close() {
        port.close();
        arena.close();
    }

    private void call(DriverEntry entry, long... arguments) {
        assertEquals(0, calls.call(entry, arguments), entry.toString());
    }

    /** Stores like a kernel. */
    private void store(long address, long value) {
        launch(kernel, address, value);
    }

    /** Loads like a kernel: sinks are only reached by kernels. */
    private long loaded(long address, long scratch) {
        launch(mover, scratch, address);
        return load(scratch);
    }

    private void storeIn(long stream, long address, long value) {
        submit(kernel, stream, address, value);
        call(DriverEntry.cuStreamSynchronize, stream);
    }

    private void launch(long function, long first, long second) {
        submit(function, 0, first, second);
        call(DriverEntry.cuCtxSynchronize);
    }

    private void submit(long function, long stream, long first, long second) {
        MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_LONG, first, second);
        MemorySegment pointers = arena.allocateFrom(ValueLayout.JAVA_LONG, values.address(), values.address() + 8);
        call(DriverEntry.cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, pointers.address(), 0);
    }

    private long load(long address) {
        call(DriverEntry.cuMemcpyDtoH_v2, calls.out(0), address, 8);
        return calls.outLong(0);
    }

    private long freeBytes() {
        call(DriverEntry.cuMemGetInfo_v2, calls.out(0), calls.out(1));
        return calls.outLong(0);
    }

    private ClientWindow join(String tenant) {
        ClientWindow window = new ClientWindow(windows, tenant, new TenantMemory(0), calls,
                new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware()));
        assertEquals(0, window.open());
        window.launches();
        return window;
    }

    @Test
    void aKernelMeetsItsOwnMemoryItsSinkAndNobodyElses() {
        long free = freeBytes();
        ClientWindow window = join("a");
        ClientWindow victim = join("b");
        long own = window.allocate(3 * MIB, 1);
        long secret = victim.allocate(MIB, 1);
        store(secret, 0x5EC2E7);
        assertEquals(0, window.backEverywhere());
        assertEquals(0, victim.backEverywhere());
        store(own, 1);
        for (long stray : new long[] {window.baseAddress() - window.guardBytes(), window.baseAddress() - 8,
                window.baseAddress() + window.sizeBytes() - 8, window.baseAddress() + window.sizeBytes(),
                window.baseAddress() + window.sizeBytes() + window.guardBytes() - 8}) {
            store(stray, 2);
            assertEquals(2, loaded(stray, own + 8));
        }
        assertEquals(2, loaded(window.baseAddress() + window.sizeBytes() + (64 * MIB) - 8, own + 8), "the sink repeats");
        assertTrue(Double.isNaN(Double.longBitsToDouble(loaded(victim.baseAddress() - 8, own + 8))), "and is the tenant's own");
        long grown = window.allocate(100 * MIB, 1);
        assertEquals(0, load(grown), "nothing of the sink is left there");
        store(grown + 100 * MIB - 8, 3);
        assertEquals(1, load(own));
        assertEquals(0x5EC2E7, load(secret));
        window.free(grown);
        window.window().wantTrim();
        window.rest();
        store(grown, 4);
        window.free(own);
        victim.free(secret);
        assertEquals(0, window.close());
        ClientWindow next = join("c");
        long again = next.allocate(3 * MIB, 1);
        assertEquals(0, load(again), "nothing of the tenant before is left");
        next.free(again);
        assertEquals(0, next.close());
        assertEquals(0, victim.close());
        assertEquals(free, freeBytes());
    }

    private WindowAccess.StrayWrites checked(ClientWindow window) {
        assertTrue(window.checkStrayWrites(0, 0));
        call(DriverEntry.cuCtxSynchronize);
        return window.strayWrites();
    }

    /** Returns what the device tells a client by a check. */
    private int told(ClientWindow window) {
        call(DriverEntry.cuMemHostAlloc, calls.out(0), Integer.BYTES, 3);
        long error = calls.outLong(0);
        MemorySegment word = MemorySegment.ofAddress(error).reinterpret(Integer.BYTES).fill((byte) 0);
        assertTrue(window.checkStrayWrites(0, error));
        call(DriverEntry.cuCtxSynchronize);
        int told = word.get(ValueLayout.JAVA_INT, 0);
        call(DriverEntry.cuMemFreeHost, error);
        return told;
    }

    @Test
    void whatIsWrittenToTheSinkIsNoticedOnceAndByItsOwnTenantAlone() {
        ClientWindow window = join("a");
        ClientWindow other = join("b");
        long own = window.allocate(3 * MIB, 1);
        assertFalse(window.checkStrayWrites(0, 0), "nothing leads to the sink yet");
        assertEquals(0, window.backEverywhere());
        assertEquals(0, other.backEverywhere());
        assertEquals(WindowAccess.StrayWrites.NONE, checked(window));
        store(own, 1);
        loaded(window.baseAddress() - 8, own + 8);
        assertEquals(WindowAccess.StrayWrites.NONE, checked(window), "a load is none");
        for (long stray : new long[] {window.baseAddress() - window.guardBytes(), window.baseAddress() - 8,
                window.baseAddress() + window.sizeBytes() - 16, window.baseAddress() + window.sizeBytes() + window.guardBytes() - 24}) {
            store(stray, 0);
            assertEquals(700, told(window), () -> Long.toHexString(stray));
            assertEquals(0, told(window), "the sink is as it was again");
            assertEquals(0, told(other));
        }
        assertEquals(WindowAccess.StrayWrites.OWN, window.strayWrites());
        assertEquals(WindowAccess.StrayWrites.NONE, window.strayWrites(), "it knows");
        assertEquals(WindowAccess.StrayWrites.NONE, other.strayWrites());
        long grown = window.allocate(100 * MIB, 1);
        store(grown + 50 * MIB, 1);
        assertEquals(WindowAccess.StrayWrites.NONE, checked(window), "there is memory now");
        window.free(grown);
        window.free(own);
        assertEquals(0, window.close());
        assertEquals(0, other.close());
    }

    @Test
    void theErrorIsWrittenByTheDeviceWhereOneClientAloneCanHaveDoneIt() {
        ClientWindow window = join("a");
        assertEquals(0, window.backEverywhere());
        assertEquals(0, told(window));
        ClientWindow second = join("a");
        store(window.baseAddress() - 8, 1);
        assertEquals(0, told(window), "the other one can have");
        assertEquals(0, second.close());
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, checked(window));
        store(window.baseAddress() - 8, 1);
        assertEquals(700, told(window));
        ClientWindow third = join("a");
        assertEquals(WindowAccess.StrayWrites.NONE, third.strayWrites(), "it came before anybody looked");
        assertEquals(WindowAccess.StrayWrites.OWN, window.strayWrites(), "what the device told it is what it hears here");
        assertEquals(0, third.close());
        assertEquals(0, window.close());
    }

    @Test
    void ofTwoClientsOfATenantNobodyKnowsWhichOneItWas() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        ClientWindow second = join("a");
        store(first.baseAddress() - 8, 1);
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, checked(first));
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, second.strayWrites());
        store(first.baseAddress() - 8, 1);
        assertEquals(0, second.close());
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, checked(first), "the other one may have done it before it went");
        assertEquals(WindowAccess.StrayWrites.NONE, checked(first));
        store(first.baseAddress() - 8, 1);
        assertEquals(WindowAccess.StrayWrites.OWN, checked(first));
        ClientWindow third = join("a");
        store(first.baseAddress() - 8, 1);
        assertTrue(first.checkStrayWritesNow());
        first.launchesNoMore(true);
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, first.strayWrites());
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, third.strayWrites());
        store(first.baseAddress() - 8, 1);
        assertEquals(WindowAccess.StrayWrites.OWN, checked(third), "kernels of the first one had ended before");
        assertEquals(0, third.close());
        assertEquals(0, first.close());
    }

    /** A wait for a word of host memory, so that what is behind it in its stream has not run. */
    private MemorySegment hold(long stream) {
        call(DriverEntry.cuMemHostAlloc, calls.out(0), Long.BYTES, 3);
        MemorySegment word = MemorySegment.ofAddress(calls.outLong(0)).reinterpret(Long.BYTES).fill((byte) 0);
        call(DriverEntry.cuStreamWaitValue64_v2, stream, word.address(), 1, 1); // CU_STREAM_WAIT_VALUE_EQ
        return word;
    }

    private long stream() {
        call(DriverEntry.cuStreamCreate, calls.out(0), 1);
        return calls.outLong(0);
    }

    @Test
    void whoComesWhileACheckIsUnderWayMayHaveWrittenWhatItFinds() {
        ClientWindow waiting = join("a");
        assertEquals(0, waiting.backEverywhere());
        long stream = stream();
        call(DriverEntry.cuMemHostAlloc, calls.out(0), Integer.BYTES, 3);
        MemorySegment error = MemorySegment.ofAddress(calls.outLong(0)).reinterpret(Integer.BYTES).fill((byte) 0);
        MemorySegment held = hold(stream);
        assertTrue(waiting.checkStrayWrites(stream, error.address()));
        ClientWindow other = join("a");
        storeIn(stream(), waiting.baseAddress() - 8, 1);
        held.set(ValueLayout.JAVA_LONG, 0, 1);
        call(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(0, error.get(ValueLayout.JAVA_INT, 0), "it was the other one");
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, waiting.strayWrites());
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, other.strayWrites());
        assertEquals(0, other.close());
        assertEquals(0, waiting.close());
    }

    @Test
    void whoComesWithoutAKernelChangesNothing() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        ClientWindow idle = new ClientWindow(windows, "a", new TenantMemory(0), calls,
                new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware()));
        assertEquals(0, idle.open());
        store(first.baseAddress() - 8, 1);
        assertEquals(700, told(first));
        assertEquals(WindowAccess.StrayWrites.NONE, idle.strayWrites());
        assertEquals(WindowAccess.StrayWrites.OWN, first.strayWrites());
        assertEquals(0, idle.close());
        assertEquals(0, first.close());
    }

    @Test
    void whoseKernelsHaveEndedAndWereCheckedCountsNoMore() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        store(first.baseAddress() - 8, 1);
        ClientWindow second = join("a");
        assertTrue(first.checkStrayWritesNow());
        first.launchesNoMore(true);
        assertEquals(WindowAccess.StrayWrites.OF_THE_TENANT, second.strayWrites(), "found while both could have");
        store(first.baseAddress() - 8, 1);
        assertEquals(700, told(second), "at once, though the first one has not closed");
        assertEquals(0, first.close());
        assertEquals(0, second.close());
    }

    @Test
    void whoComesAfterOneThatHasGoneIsAloneAtItsFirstLaunch() throws Exception {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        store(first.baseAddress() - 8, 1);
        first.leaving();
        Thread end = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(50_000_000L);
            first.launchesNoMore(true); // as if it had been checked: what it wrote is the second one's here
        });
        ClientWindow second = join("a");
        assertEquals(700, told(second));
        end.join();
        assertEquals(0, first.close());
        first.abandon();
        assertEquals(0, second.close());
    }

    @Test
    void whoLaunchesAgainCountsAgain() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        ClientWindow second = join("a");
        assertTrue(second.checkStrayWritesNow());
        second.launchesNoMore(true);
        second.launches();
        store(first.baseAddress() - 8, 1);
        assertEquals(0, told(first));
        assertEquals(0, second.close());
        assertEquals(0, first.close());
    }

    @Test
    void aCheckIsTheFindOfTheClientThatWasAloneThen() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        store(first.baseAddress() - 8, 1);
        assertEquals(700, told(first));
        ClientWindow second = join("a"); // before any look
        assertEquals(0, told(second));
        assertEquals(WindowAccess.StrayWrites.NONE, second.strayWrites());
        assertEquals(WindowAccess.StrayWrites.OWN, first.strayWrites());
        assertEquals(0, second.close());
        assertEquals(0, first.close());
    }

    @Test
    void whoComesLaterIsNotBlamedForWhatWasBefore() {
        ClientWindow first = join("a");
        assertEquals(0, first.backEverywhere());
        store(first.baseAddress() - 8, 1);
        assertEquals(WindowAccess.StrayWrites.OWN, checked(first));
        ClientWindow third = join("a");
        assertEquals(WindowAccess.StrayWrites.NONE, third.strayWrites(), "what was before it came is not its own");
        assertEquals(0, third.close());
        assertEquals(0, first.close());
    }

    @Test
    void hostMemoryIsAtOneAddressForAll() throws Exception {
        long free = freeBytes();
        ClientWindow window = join("a");
        assertEquals(0, window.backEverywhere());
        try (PinnedMemory pinned = new PinnedMemory(Linux.sharedMemory(), Linux.open().files(), ClientAccount.ofItsOwn(), _ -> {})) {
            pinned.use(window.hostAddresses());
            PinnedMemory.Offer offer = pinned.create(3 * MIB, 0);
            Linux.sharedMemory().close(offer.descriptor());
            PinnedMemory.Region region = pinned.region(offer.pinned().id());
            store(region.address(), 1);
            assertEquals(0, window.openHost(region.address(), region.roundedBytes(), () -> {
                assertTrue(pinned.map(region));
                return calls.call(DriverEntry.cuMemHostRegister_v2, region.address(), region.roundedBytes(), 3);
            }));
            MemorySegment host = MemorySegment.ofAddress(region.address()).reinterpret(region.bytes());
            assertEquals(0, host.get(ValueLayout.JAVA_LONG, 0), "the sink's content is no host memory's");
            store(region.address() + 8, 4711);
            assertEquals(4711, host.get(ValueLayout.JAVA_LONG, 8));
            store(region.address() + region.roundedBytes(), 2);
            assertEquals(0, window.closeHost(region.address(), region.roundedBytes(), () -> {
                int result = calls.call(DriverEntry.cuMemHostUnregister, region.address());
                pinned.unmap(region);
                return result;
            }));
            store(region.address() + 8, 3);
            assertNotEquals(4711, load(region.address() + 8));
        }
        assertEquals(0, window.close());
        assertEquals(free, freeBytes());
    }
}
