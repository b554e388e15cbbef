package io.tessera.testing.driver;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import io.tessera.device.Extent;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Pointer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Checks that a driver receives only handles and device addresses that it returned, and that places for new handles are empty, so that a
 * caller does not trust another client's handles. Any thread.
 */
public final class HandleWitness {
    /** CU_STREAM_LEGACY and CU_STREAM_PER_THREAD. */
    private static final long MOST_SPECIAL = 2;
    private static final int MOST_COMPLAINTS = 20;
    private static final String ADDRESS = "CUdeviceptr";

    private final FakePages pages;
    private final Set<Long> given = ConcurrentHashMap.newKeySet();
    /** Memory of the host and the executor's own, by its first address. */
    private final ConcurrentSkipListMap<Long, Long> ranges = new ConcurrentSkipListMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();

    /** Creates a witness for a driver with these pages that has not returned any handle yet. */
    HandleWitness(FakePages pages) {
        this.pages = pages;
    }

    /** Returns the first complaints. */
    public List<String> complaints() {
        return complaints;
    }

    void before(DriverEntry entry, MemorySegment slots) {
        List<ParameterDescription> parameters = EntryDescriptions.of(entry).parameters();
        for (int i = 0; i < parameters.size(); i++) {
            long value = slots.getAtIndex(ValueLayout.JAVA_LONG, i);
            ParameterDescription parameter = parameters.get(i);
            switch (parameter.shape()) {
                case Handle handle -> look(entry, handle.kind(), value);
                case ParameterDescription.Number _ when parameter.type().equals(ADDRESS) && entry != DriverEntry.cuMemAddressReserve
                        && !isOfNothing(entry.name(), slots) ->
                    lookAddress(entry, value);
                case Pointer pointer when pointer.element().isPresent() && value != 0 -> {
                    MemorySegment there = room(pointer, slots, value);
                    for (long at = 0; at < there.byteSize(); at += Long.BYTES) {
                        long found = there.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
                        if (pointer.direction().goesIn()) {
                            look(entry, pointer.element().get(), found);
                        } else if (found != 0) {
                            complain(entry + " finds " + Long.toHexString(found) + " where it writes");
                        }
                    }
                }
                default -> {}
            }
        }
    }

    void after(DriverEntry entry, MemorySegment slots) {
        long first = slots.getAtIndex(ValueLayout.JAVA_LONG, 0);
        long second = slots.getAtIndex(ValueLayout.JAVA_LONG, 1);
        switch (entry) {
            case cuMemHostRegister_v2 -> ranges.put(first, second);
            case cuMemHostAlloc, cuMemAlloc_v2 -> ranges.put(MemorySegment.ofAddress(first).reinterpret(Long.BYTES)
                    .get(ValueLayout.JAVA_LONG_UNALIGNED, 0), second);
            default -> {}
        }
        EntryDescription description = EntryDescriptions.of(entry);
        for (int i = 0; i < description.parameters().size(); i++) {
            long value = slots.getAtIndex(ValueLayout.JAVA_LONG, i);
            if (description.parameters().get(i).shape() instanceof Pointer pointer && pointer.element().isPresent() && value != 0
                    && pointer.direction().comesOut()) {
                MemorySegment there = room(pointer, slots, value);
                for (long at = 0; at < there.byteSize(); at += Long.BYTES) {
                    given.add(there.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
                }
            }
        }
    }

    private static MemorySegment room(Pointer pointer, MemorySegment slots, long address) {
        long elements = switch (pointer.extent()) {
            case Extent.Constant constant -> constant.elements();
            case Extent.Value value -> value.elements(slots.getAtIndex(ValueLayout.JAVA_LONG, value.parameter()));
            case Extent.Behind behind -> {
                long count = slots.getAtIndex(ValueLayout.JAVA_LONG, behind.parameter());
                yield count == 0 ? 0 : MemorySegment.ofAddress(count).reinterpret(Long.BYTES).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
            }
            case Extent.Text _,Extent.Handwritten _ -> 0;
        };
        return MemorySegment.ofAddress(address).reinterpret(Math.max(0, elements) * Long.BYTES);
    }

    private void look(DriverEntry entry, HandleKind kind, long value) {
        if (kind == HandleKind.CONTEXT) {
            return; // clients have no contexts of their own
        }
        boolean special = kind == HandleKind.STREAM && value >= 0 && value <= MOST_SPECIAL;
        if (value != 0 && !special && !given.contains(value)) {
            complain(entry + " gets a " + kind + " that it never gave: " + Long.toHexString(value));
        }
    }

    /** Returns whether no byte is set or copied, so that any address is allowed, as in a driver. */
    private static boolean isOfNothing(String entry, MemorySegment slots) {
        boolean plane = entry.startsWith("cuMemsetD2D");
        int count = plane || entry.startsWith("cuMemcpyPeer") ? 4 : 2;
        return plane && slots.getAtIndex(ValueLayout.JAVA_LONG, 3) == 0
                || (entry.startsWith("cuMemset") || entry.startsWith("cuMemcpy")) && slots.getAtIndex(ValueLayout.JAVA_LONG, count) == 0;
    }

    private void lookAddress(DriverEntry entry, long value) {
        Map.Entry<Long, Long> below = ranges.floorEntry(value);
        boolean known = pages.isReserved(value) || below != null && value - below.getKey() < below.getValue();
        if (value != 0 && !known) {
            complain(entry + " gets the address " + Long.toHexString(value));
        }
    }

    private void complain(String what) {
        if (complaints.size() < MOST_COMPLAINTS) {
            complaints.add(what);
        }
    }
}
