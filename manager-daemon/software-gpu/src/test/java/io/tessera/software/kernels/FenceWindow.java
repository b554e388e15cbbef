package io.tessera.software.kernels;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.software.memory.AddressKind;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A tenant's window with its guard bands, all of it readable and writable, and modules that are fenced for it. */
public final class FenceWindow {
    public static final long WINDOW_BYTES = WindowConstants.UNIT_BYTES;
    public static final long MEMORY_BYTES = WINDOW_BYTES + 2 * WindowConstants.GUARD_BYTES + (1L << 30);
    /** Programs make pointers that lie a little before what they point to; nothing is at the window's borders. */
    private static final long MARGIN_BYTES = 1L << 28;
    private static final int ALIGNMENT = 512;

    public final SoftwareProcessor processor;
    public final FenceMode mode;
    public final long base;
    public final long report;
    public final long stopWord;
    private final long handles;
    private long next;
    /** Dynamic shared memory that launches of the module that was loaded last have more than the program asks for. */
    public int addedSharedBytes;

    public FenceWindow(SoftwareProcessor processor, FenceMode mode) {
        DeviceMemory memory = processor.memory();
        this.processor = processor;
        this.mode = mode;
        long region = memory.allocate(WINDOW_BYTES + 2 * WindowConstants.GUARD_BYTES, WINDOW_BYTES,
                AddressKind.GLOBAL);
        this.base = region + WindowConstants.GUARD_BYTES;
        this.next = base + MARGIN_BYTES;
        this.report = memory.allocate(ReportArea.BYTES);
        this.stopWord = memory.allocate(Integer.BYTES);
        RealMemory.putInt(stopWord, WindowConstants.GO_ON);
        this.handles = memory.allocate(WindowConstants.HANDLE_BITMAP_BYTES);
        for (int i = 0; i < WindowConstants.HANDLE_BITMAP_BYTES; i += Long.BYTES) {
            RealMemory.putLong(handles + i, -1);
        }
    }

    public long allocate(long bytes) {
        long address = next;
        next += Math.max(bytes, 1) + ALIGNMENT - 1 & -ALIGNMENT;
        return address;
    }

    /** Fences a module, and does what its loader has to do. */
    public LoadedModule load(String ptx) throws PtxException, FenceRefusedException {
        return load(new Fencer(mode).fence(PtxParser.parse(ptx)));
    }

    public LoadedModule load(FencedModule fenced) throws PtxException {
        LoadedModule module = processor.load(fenced.ptx());
        addedSharedBytes = fenced.waits() ? FencedModule.CLUSTER_BYTES : 0;
        Map<String, Long> addresses = new HashMap<>();
        for (HoistedVariable variable : fenced.variables()) {
            addresses.put(variable.name(), allocate(variable.sizeBytes()));
        }
        for (HoistedVariable variable : fenced.variables()) {
            long address = addresses.get(variable.name());
            put(address, variable.initial());
            for (Relocation relocation : variable.relocations()) {
                relocate(address, relocation, addresses);
            }
            RealMemory.putLong(module.globals().get(variable.constant()).address(), address);
        }
        for (ConstantPatch patch : fenced.patches()) {
            relocate(module.globals().get(patch.constant()).address(), patch.relocation(), addresses);
        }
        put(module.globals().get(WindowConstants.NAME).address(),
                new WindowConstants(mode, base, WINDOW_BYTES, report, stopWord, handles).bytes());
        return module;
    }

    private static void put(long address, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            RealMemory.putByte(address + i, bytes[i]);
        }
    }

    private static void relocate(long at, Relocation relocation, Map<String, Long> addresses) {
        long value = relocation.value(addresses.get(relocation.variable()));
        for (int i = 0; i < relocation.widthBytes(); i++) {
            RealMemory.putByte(at + relocation.offsetBytes() + i, (byte) (value >>> 8 * i));
        }
    }

    /** Returns what fenced kernels were kept from. */
    public List<ReportArea.Violation> violations() {
        ByteBuffer area = ByteBuffer.allocate(ReportArea.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < ReportArea.BYTES; i += Long.BYTES) {
            area.putLong(i, RealMemory.getLong(report + i));
        }
        return ReportArea.violations(area);
    }
}
