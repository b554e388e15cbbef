package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.MemoryType;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.Memcpy3D;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.DeviceText;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.CudaArray;
import io.tessera.software.driver.memory.Extent3;
import io.tessera.software.driver.memory.PitchedPlace;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.operation.Copy;
import io.tessera.software.driver.work.Task;
import java.lang.foreign.Arena;

/**
 * Makes copies in streams from the arguments of copies: checks addresses, and treats pageable host memory as the driver documents. A copy from pageable memory
 * has read all of it before the entry returns; a copy to it has ended.
 */
public final class Transfers {

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public Transfers(DriverState state) {
        this.state = state;
    }

    /** One side of a copy. */
    record Side(PitchedPlace place, boolean pageable) {
    }

    /** A copy whose addresses are checked, and which of its sides are pageable host memory. */
    public record Checked(Copy copy, boolean fromPageable, boolean toPageable) {
    }

    /** Checks one side of linear memory. */
    Side linear(int type, PitchedPlace place, Extent3 box) {
        if (box.empty()) {
            return new Side(place, false);
        }
        DriverException.require(place.address() != 0, CudaError.INVALID_VALUE);
        long span = span(place, box);
        AddressRange known = state.memory().addresses().containing(place.address());
        boolean covered = known != null && known.kind() != AddressRange.Kind.ARRAY
                && state.memory().addresses().covers(place.address(), span);
        // A host address that the driver does not know is pageable memory; a device address must be known.
        DriverException.require(covered || known == null && (type == MemoryType.HOST || type == MemoryType.UNIFIED),
                CudaError.INVALID_VALUE);
        return new Side(place, !covered);
    }

    private static long span(PitchedPlace place, Extent3 box) {
        try {
            return place.span(box);
        } catch (ArithmeticException e) {
            throw new DriverException(CudaError.INVALID_VALUE, e.getMessage());
        }
    }

    /** A copy of bytes in a row. */
    Checked flat(int sourceType, long source, int targetType, long target, long bytes) {
        Extent3 box = new Extent3(bytes, 1, 1);
        Side from = linear(sourceType, new PitchedPlace(source, bytes, bytes), box);
        Side to = linear(targetType, new PitchedPlace(target, bytes, bytes), box);
        return checked(from, to, box, sourceType, targetType);
    }

    private static Checked checked(Side from, Side to, Extent3 box, int sourceType, int targetType) {
        byte[] description = MemcpyDescriptions.linear(from.place(), sourceType, to.place(), targetType, box);
        return new Checked(new Copy(from.place(), to.place(), box, description), from.pageable(), to.pageable());
    }

    /** A copy that CUDA_MEMCPY3D describes. */
    public Checked described(long structure) {
        return described(HostMemory.get(structure, Memcpy3D.BYTES));
    }

    /** As {@link #described(long)}, from its bytes. */
    Checked described(byte[] structure) {
        MemcpyDescriptions.Reader reader = new MemcpyDescriptions.Reader(structure);
        Extent3 box = new Extent3(reader.word(Memcpy3D.WIDTH), reader.word(Memcpy3D.ROWS),
                reader.word(Memcpy3D.DEPTH));
        Side from = side(reader, Memcpy3D.SOURCE, box);
        Side to = side(reader, Memcpy3D.TARGET, box);
        return new Checked(new Copy(from.place(), to.place(), box, structure), from.pageable(), to.pageable());
    }

    private Side side(MemcpyDescriptions.Reader reader, int half, Extent3 box) {
        int type = reader.number(half + Memcpy3D.TYPE);
        long x = reader.word(half + Memcpy3D.X);
        long y = reader.word(half + Memcpy3D.Y);
        long z = reader.word(half + Memcpy3D.Z);
        if (type == MemoryType.ARRAY) {
            CudaArray array = state.handles().get(reader.word(half + Memcpy3D.ARRAY), CudaArray.class);
            return new Side(array.place(x, y, z, box), false);
        }
        DriverException.require(type == MemoryType.HOST || type == MemoryType.DEVICE || type == MemoryType.UNIFIED, CudaError.INVALID_VALUE);
        long base = reader.word(half + (type == MemoryType.HOST ? Memcpy3D.HOST : Memcpy3D.DEVICE));
        long given = reader.word(half + Memcpy3D.PITCH);
        long pitch = given == 0 ? x + box.widthBytes() : given;
        long rows = reader.word(half + Memcpy3D.HEIGHT);
        long slice = pitch * (rows == 0 ? y + box.height() : rows);
        return linear(type, new PitchedPlace(base + z * slice + y * pitch + x, pitch, slice), box);
    }

    /** Copies in a stream, and waits if {@code wait} is set or pageable memory requires it. */
    void copy(Stream stream, Checked checked, boolean wait) {
        if (stream.capture() != null) {
            DriverException.require(!wait, CudaError.STREAM_CAPTURE_UNSUPPORTED);
            stream.submit(checked.copy());
            return;
        }
        boolean waits = wait || checked.toPageable();
        Task task = waits || !checked.fromPageable() ? stream.submit(checked.copy()) : staged(stream, checked.copy());
        if (waits && task != null) {
            task.await();
            stream.check();
            if (wait) {
                DeviceText.flush(stream);
            }
        }
    }

    /** The bytes are read now; the stream copies them from here when it gets there. */
    private static Task staged(Stream stream, Copy copy) {
        Extent3 box = copy.box();
        if (box.empty()) {
            return stream.submit(copy);
        }
        Arena arena = Arena.ofShared();
        long staging = arena.allocate(box.bytes(), 16).address();
        PitchedPlace dense = new PitchedPlace(staging, box.widthBytes(), box.widthBytes() * box.height());
        new Copy(copy.source(), dense, box, copy.description()).run(null);
        stream.submit(new Copy(dense, copy.target(), box, copy.description()));
        return stream.submit(new Action(arena::close));
    }
}
