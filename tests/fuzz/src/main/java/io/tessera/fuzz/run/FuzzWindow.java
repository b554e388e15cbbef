package io.tessera.fuzz.run;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.software.memory.AddressKind;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.SoftwareProcessor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A tenant's window on a software GPU, with its guard bands. The device has no other memory except that of the fences, so every access
 * outside the window is a fault. One owner thread.
 */
final class FuzzWindow {
    static final long BYTES = WindowConstants.UNIT_BYTES;
    private static final long REGION_BYTES = BYTES + 2 * WindowConstants.GUARD_BYTES;
    /** Memory that a device needs for a window. */
    static final long MEMORY_BYTES = REGION_BYTES + (2L << 30);
    /** Programs make pointers that lie a little before what they point to; nothing is at the window's borders. */
    private static final long MARGIN_BYTES = 1L << 28;
    private static final int ALIGNMENT = 512;

    private final SoftwareProcessor processor;
    private long region;
    private long base;
    private long next;
    private long kept;
    private final long report;
    private final long stopWord;
    private final long handles;
    private final byte[] noHandles = new byte[WindowConstants.HANDLE_BITMAP_BYTES];
    private long constants;
    private byte[] constantBytes;

    FuzzWindow(SoftwareProcessor processor) {
        this.processor = processor;
        DeviceMemory memory = processor.memory();
        this.report = memory.allocate(ReportArea.BYTES);
        this.stopWord = memory.allocate(Integer.BYTES);
        this.handles = memory.allocate(WindowConstants.HANDLE_BITMAP_BYTES);
        region = memory.allocate(REGION_BYTES, BYTES, AddressKind.GLOBAL);
        begin();
    }

    private void begin() {
        base = region + WindowConstants.GUARD_BYTES;
        next = base + MARGIN_BYTES;
        kept = next;
    }

    /** Returns all pages that kernels have touched, in the window and the guards; all allocations are lost. */
    void renew() {
        processor.memory().free(region);
        region = processor.memory().allocate(REGION_BYTES, BYTES, AddressKind.GLOBAL);
        begin();
    }

    long base() {
        return base;
    }

    long allocate(long bytes) {
        long address = next;
        next += Math.max(bytes, 1) + ALIGNMENT - 1 & -ALIGNMENT;
        return address;
    }

    /** Keeps the allocations made so far; {@link #forget} frees later ones. */
    void keep() {
        kept = next;
    }

    void forget() {
        next = kept;
    }

    /** Loads a fenced module and completes the tasks of its loader. */
    LoadedModule load(FencedModule fenced, String text) throws PtxException {
        LoadedModule module = processor.load(text);
        Map<String, Long> addresses = new HashMap<>();
        for (HoistedVariable variable : fenced.variables()) {
            addresses.put(variable.name(), allocate(variable.sizeBytes()));
        }
        for (HoistedVariable variable : fenced.variables()) {
            long address = addresses.get(variable.name());
            RealMemory.fill(address, variable.sizeBytes(), (byte) 0);
            RealMemory.put(address, variable.initial());
            for (Relocation relocation : variable.relocations()) {
                relocate(address, relocation, addresses);
            }
            RealMemory.putLong(module.globals().get(variable.constant()).address(), address);
        }
        for (ConstantPatch patch : fenced.patches()) {
            relocate(module.globals().get(patch.constant()).address(), patch.relocation(), addresses);
        }
        constantBytes = new WindowConstants(fenced.mode(), base, BYTES, report, stopWord, handles).bytes();
        constants = module.globals().get(WindowConstants.NAME).address();
        RealMemory.put(constants, constantBytes);
        return module;
    }

    private static void relocate(long at, Relocation relocation, Map<String, Long> addresses) {
        long value = relocation.value(addresses.get(relocation.variable()));
        for (int i = 0; i < relocation.widthBytes(); i++) {
            RealMemory.putByte(at + relocation.offsetBytes() + i, (byte) (value >>> 8 * i));
        }
    }

    /** Lets the next kernel begin. */
    void arm() {
        RealMemory.putInt(stopWord, WindowConstants.GO_ON);
        RealMemory.fill(report, ReportArea.BYTES, (byte) 0);
    }

    /** Tells the running kernel to end. */
    void stop() {
        RealMemory.putIntVolatile(stopWord, 0);
    }

    /** Returns addresses for hostile kernels: memory of the fences, the window's borders, unallocated memory. */
    long[] targets() {
        return new long[] {constants, report, stopWord, handles, base, base + BYTES - 8, base - WindowConstants.GUARD_BYTES,
                base + BYTES + WindowConstants.GUARD_BYTES - 8, base + BYTES + WindowConstants.GUARD_BYTES, 64, -1L, region - 4096};
    }

    /** Returns the memory of the fence that a kernel changed although it must not; empty: none. */
    String changed(FenceMode mode, boolean stopped) {
        if (!Arrays.equals(RealMemory.get(constants, constantBytes.length), constantBytes)) {
            return "the fence's constants";
        }
        if (RealMemory.getInt(stopWord) != (stopped ? 0 : WindowConstants.GO_ON)) {
            return "the stop word";
        }
        return Arrays.equals(RealMemory.get(handles, noHandles.length), noHandles) ? "" : "the bitmap of handles";
    }
}
