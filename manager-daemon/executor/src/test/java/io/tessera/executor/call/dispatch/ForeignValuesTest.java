package io.tessera.executor.call.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallShape;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientCompletion;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.MovedBytes;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.dispatch.CallMaker.Spot;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.DriverFailedException;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.image.ClientImages;
import io.tessera.executor.ipc.ClientExports;
import io.tessera.executor.ipc.Exports;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.pool.GraphRanges;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every place of every relayed entry where an address or a handle stands, from the description: what is not the client's is
 * refused there, and what is the client's is not. An entry that is relayed tomorrow is in this test without a line here.
 */
@Timeout(180)
class ForeignValuesTest {
    /** Where a foreign value is right: by entry and place, with the reason. */
    private static final Map<String, String> ALLOWED = Map.of(
            "cuMemAddressReserve.addr", "a wish, which the window's heap follows inside the window alone",
            "cuOccupancyMaxActiveClusters.config.hStream", "no work: the driver is given none",
            "cuOccupancyMaxPotentialClusterSize.config.hStream", "no work: the driver is given none");
    /** What needs whole pages and mappings to be right; the attack suite makes them ({@code descriptors/mappings}). */
    private static final Set<String> NEEDS_MAPPINGS = Set.of("cuMemMap.ptr", "cuMemUnmap.ptr", "cuMemSetAccess.ptr",
            "cuMemAddressFree.ptr");
    /** The answer of entries that are relayed and refused altogether. */
    private static final String NOT_SERVED = "CUDA error 801";
    private static final int CONTEXT = 1;
    /** Of {@code CUDA_ARRAY3D_DESCRIPTOR}. */
    private static final int ARRAY_BYTES = 40;

    /** Yes to everything. */
    private static int yes(DriverEntry entry, MemorySegment slots) {
        if (entry == DriverEntry.cuArray3DGetDescriptor_v2) {
            MemorySegment shape = MemorySegment.ofAddress(slots.get(WireTypes.U64, 0)).reinterpret(ARRAY_BYTES);
            shape.copyFrom(MemorySegment.ofArray(new long[] {1 << 10, 1 << 10, 1 << 10, 1L << 32 | 1, 0}));
        }
        return CudaResult.SUCCESS;
    }

    /** A client that has one of everything. It lacks what the checks never read; a call that asks for that has passed the checks. */
    static CallExecutor client(Arena arena) throws DriverFailedException {
        CallInjector yes = (entry, slots, _) -> yes(entry, slots);
        DeviceContext device = DeviceContext.open(yes.port(), 0);
        DriverCalls driver = new DriverCalls(device.port(), arena);
        ClientHandles handles = new ClientHandles(0);
        ClientStreams streams = new ClientStreams(driver, handles, MoveTime.ofSoftware());
        ClientMemory memory = new ClientMemory();
        streams.createContext(CONTEXT);
        for (HandleKind kind : HandleKind.values()) {
            if (kind != HandleKind.CONTEXT && kind != HandleKind.FOREIGN) {
                long value = kind.deviceValue() ? CallMaker.handle(kind, true) : 0x1000L + kind.ordinal();
                assertEquals(CallMaker.handle(kind, true), handles.put(kind, value, 0, CONTEXT));
            }
        }
        streams.created(CallMaker.handle(HandleKind.STREAM, true), streams.context(CONTEXT), false);
        memory.add(new MemoryRange(CallMaker.OWN, CallMaker.OWN_BYTES, MemoryRange.Origin.ALLOCATED, CONTEXT, 0, 0));
        ClientCharge charge = new ClientCharge(new TenantMemory(0));
        ClientExports exports = new ClientExports(new Exports(), "tenant", null, memory, charge.tenant(), driver,
                new RelaySegment(arena.allocate(RelaySegment.BYTES, 4096)));
        ClientPools pools = new ClientPools(null, streams, Clocks.system().monotonic());
        ClientExecution execution = new ClientExecution(device, driver, handles, streams, null, new MovedBytes(MoveTime.ofSoftware(), _ -> false));
        ClientAllocations allocations = new ClientAllocations(memory, charge, null, pools, new GraphMemory(pools, new GraphRanges(memory, charge)),
                exports);
        return new CallExecutor(execution, allocations, new ClientCompletion(null, null, null, null), new ClientImages(null, null), arena);
    }

    /** Returns why a call is refused; empty: it came past all checks. */
    private static String refusal(Spot spot, boolean own) throws DriverFailedException {
        MemorySegment record = CallMaker.record(spot, own);
        try (Arena arena = Arena.ofConfined(); CallExecutor calls = client(arena)) {
            int result = calls.call(record, (int) record.byteSize());
            return result == 0 ? "" : "CUDA error " + result;
        } catch (RejectedException e) {
            return e.getMessage();
        } catch (NullPointerException e) {
            return ""; // it asked for a part that this client lacks
        }
    }

    private static List<Spot> spots() {
        List<Spot> spots = new ArrayList<>();
        for (EntryDescription entry : EntryDescriptions.all()) {
            if (CallShape.served(entry)) {
                spots.addAll(CallMaker.spots(entry));
            }
        }
        return spots;
    }

    @Test
    void whatIsNotTheClientsIsRefusedEverywhere() throws Exception {
        List<Spot> spots = spots();
        assertTrue(spots.size() > 400, "only " + spots.size() + " places");
        Map<String, String> let = new TreeMap<>();
        Map<String, String> proveNothing = new TreeMap<>();
        for (Spot spot : spots) {
            String name = spot.entry().api() + "." + spot.name();
            String foreign = refusal(spot, false);
            if (ALLOWED.containsKey(name) || foreign.equals(NOT_SERVED) || NEEDS_MAPPINGS.contains(name)
                    && !foreign.isEmpty()) {
                continue;
            }
            if (foreign.isEmpty()) {
                let.put(spot.toString(), "came past all checks");
            } else if (foreign.equals(refusal(spot, true))) {
                proveNothing.put(spot.toString(), foreign); // the same call is refused with the client's own value too
            }
        }
        assertEquals(Map.of(), let, "foreign values came past all checks");
        assertEquals(Map.of(), proveNothing, "these calls are refused whatever stands there: the test must make them right");
    }
}
