package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.device.MemoryType;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.Memcpy3DBatch;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.CudaArray;
import io.tessera.software.driver.memory.Extent3;
import io.tessera.software.driver.memory.PitchedPlace;
import io.tessera.software.driver.operation.Copy;

/** Copies in two and three dimensions, and of arrays. */
public final class ShapedCopyEntries implements EntryGroup {
    private final DriverState state;
    private final Transfers transfers;

    /** Creates an instance over a driver's state. */
    public ShapedCopyEntries(DriverState state) {
        this.state = state;
        transfers = new Transfers(state);
    }

    @Override
    public void register(EntryTable table) {
        table.on(call -> transfers.copy(call.stream(0L),
                transfers.described(MemcpyDescriptions.of2D(call.pointer(0))), true), DriverEntry.cuMemcpy2D_v2,
                DriverEntry.cuMemcpy2DUnaligned_v2)
                .on(DriverEntry.cuMemcpy2DAsync_v2, call -> transfers.copy(call.stream(1),
                        transfers.described(MemcpyDescriptions.of2D(call.pointer(0))), false))
                .on(call -> transfers.copy(call.stream(0L), transfers.described(call.pointer(0)), true),
                        DriverEntry.cuMemcpy3D_v2, DriverEntry.cuMemcpy3DPeer)
                .on(call -> transfers.copy(call.stream(1), transfers.described(call.pointer(0)), false),
                        DriverEntry.cuMemcpy3DAsync_v2, DriverEntry.cuMemcpy3DPeerAsync)
                .on(DriverEntry.cuMemcpy3DBatchAsync, call -> batch(call, 4, 2))
                .on(DriverEntry.cuMemcpy3DBatchAsync_v2, call -> batch(call, 3, -1));
        registerArrays(table);
    }

    private void registerArrays(EntryTable table) {
        int host = MemoryType.HOST;
        int device = MemoryType.DEVICE;
        int array = MemoryType.ARRAY;
        table.on(DriverEntry.cuMemcpyAtoA_v2, call -> array(call.stream(0L), MemcpyDescriptions.withArray(array,
                call.word(2), call.word(3), array, call.word(0), call.word(1), call.word(4)), false))
                .on(DriverEntry.cuMemcpyAtoD_v2, call -> array(call.stream(0L), MemcpyDescriptions.withArray(array,
                        call.word(1), call.word(2), device, call.word(0), 0, call.word(3)), false))
                .on(DriverEntry.cuMemcpyDtoA_v2, call -> array(call.stream(0L), MemcpyDescriptions.withArray(device,
                        call.word(2), 0, array, call.word(0), call.word(1), call.word(3)), false))
                .on(DriverEntry.cuMemcpyAtoH_v2, call -> array(call.stream(0L), MemcpyDescriptions.withArray(array,
                        call.word(1), call.word(2), host, call.word(0), 0, call.word(3)), true))
                .on(DriverEntry.cuMemcpyHtoA_v2, call -> array(call.stream(0L), MemcpyDescriptions.withArray(host,
                        call.word(2), 0, array, call.word(0), call.word(1), call.word(3)), true))
                .on(DriverEntry.cuMemcpyAtoHAsync_v2, call -> array(call.stream(4), MemcpyDescriptions.withArray(array,
                        call.word(1), call.word(2), host, call.word(0), 0, call.word(3)), false))
                .on(DriverEntry.cuMemcpyHtoAAsync_v2, call -> array(call.stream(4), MemcpyDescriptions.withArray(host,
                        call.word(2), 0, array, call.word(0), call.word(1), call.word(3)), false));
    }

    private void array(Stream stream, byte[] description, boolean wait) {
        transfers.copy(stream, transfers.described(description), wait);
    }

    private void batch(Call call, int streamIndex, int failIndex) {
        Stream stream = call.stream(streamIndex);
        long count = call.word(0);
        DriverException.require(count > 0 && call.word(streamIndex) != 0, CudaError.INVALID_VALUE);
        Transfers.Checked[] copies = new Transfers.Checked[Math.toIntExact(count)];
        for (int i = 0; i < copies.length; i++) {
            try {
                copies[i] = operation(call.pointer(1) + (long) i * Memcpy3DBatch.BYTES);
            } catch (DriverException e) {
                if (failIndex >= 0) {
                    call.offerLong(failIndex, i);
                }
                throw e;
            }
        }
        for (Transfers.Checked copy : copies) {
            transfers.copy(stream, copy, false);
        }
    }

    private Transfers.Checked operation(long structure) {
        long source = structure + Memcpy3DBatch.SOURCE;
        long target = structure + Memcpy3DBatch.TARGET;
        int elementBytes = Math.max(elementBytes(source), elementBytes(target));
        long extent = structure + Memcpy3DBatch.EXTENT;
        Extent3 box = new Extent3(HostMemory.getLong(extent) * elementBytes, HostMemory.getLong(extent + 8),
                HostMemory.getLong(extent + 16));
        Transfers.Side from = operand(source, box, elementBytes);
        Transfers.Side to = operand(target, box, elementBytes);
        byte[] description = MemcpyDescriptions.linear(from.place(), MemoryType.UNIFIED, to.place(),
                MemoryType.UNIFIED, box);
        return new Transfers.Checked(new Copy(from.place(), to.place(), box, description), from.pageable(),
                to.pageable());
    }

    private CudaArray arrayOf(long operand) {
        return HostMemory.getInt(operand + Memcpy3DBatch.TYPE) == 2
                ? state.handles().get(HostMemory.getLong(operand + Memcpy3DBatch.OBJECT), CudaArray.class) : null;
    }

    /** Extents count elements where an array is involved, and bytes where none is. */
    private int elementBytes(long operand) {
        CudaArray array = arrayOf(operand);
        return array == null ? 1 : array.elementBytes();
    }

    private Transfers.Side operand(long operand, Extent3 box, int elementBytes) {
        CudaArray array = arrayOf(operand);
        if (array != null) {
            long offset = operand + Memcpy3DBatch.OFFSET;
            return new Transfers.Side(array.place(HostMemory.getLong(offset) * elementBytes,
                    HostMemory.getLong(offset + 8), HostMemory.getLong(offset + 16), box), false);
        }
        DriverException.require(HostMemory.getInt(operand + Memcpy3DBatch.TYPE) == 1, CudaError.INVALID_VALUE);
        long row = HostMemory.getLong(operand + Memcpy3DBatch.ROW_LENGTH) * elementBytes;
        long rows = HostMemory.getLong(operand + Memcpy3DBatch.LAYER_HEIGHT);
        long pitch = row == 0 ? box.widthBytes() : row;
        return transfers.linear(MemoryType.UNIFIED, new PitchedPlace(
                HostMemory.getLong(operand + Memcpy3DBatch.OBJECT), pitch, pitch * (rows == 0 ? box.height() : rows)),
                box);
    }
}
