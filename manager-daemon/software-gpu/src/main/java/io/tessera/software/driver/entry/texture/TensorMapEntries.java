package io.tessera.software.driver.entry.texture;

import io.tessera.device.CudaEnums.TensorElement;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.texture.TensorMap;

/** Tensor maps, tiled ones: what cuda.h asks of their arguments is checked, and what this device lacks refused. */
public final class TensorMapEntries implements EntryGroup {
    /** Bytes of an element by CUtensorMapDataType; 0: packed ones of 4 and 6 bits. */
    private static final int[] ELEMENT_BYTES = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};
    private static final long ADDRESS_ALIGNMENT = 16;
    private static final long LONGEST_STRIDE = 1L << 40;
    private static final int LARGEST_BOX = 256;
    private static final int LARGEST_STEP = 8;
    /** Bits that CU_TENSOR_MAP_SWIZZLE_NONE, _32B, _64B and _128B mix. */
    private static final int MOST_SWIZZLE = 3;
    private static final int LEAST_SWIZZLED_BYTES = 16;

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuTensorMapEncodeTiled, TensorMapEntries::tiled)
                .on(DriverEntry.cuTensorMapReplaceAddress, call -> {
                    long at = call.pointer(0);
                    TensorMap map = TensorMap.read(at);
                    DriverException.require(map != null && call.word(1) % ADDRESS_ALIGNMENT == 0, CudaError.INVALID_VALUE);
                    map.at(call.word(1)).write(at);
                });
    }

    /** Parameters: map, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill. */
    private static void tiled(Call call) {
        long to = call.pointer(0);
        int type = call.number(1);
        int rank = call.number(2);
        DriverException.require(type >= 0 && type < ELEMENT_BYTES.length && rank >= 1 && rank <= TensorMap.DIMENSIONS
                && to % 64 == 0 && call.word(3) % ADDRESS_ALIGNMENT == 0, CudaError.INVALID_VALUE);
        int swizzle = call.number(9);
        boolean nan = call.number(11) == 1;
        DriverException.require(swizzle >= 0 && call.number(8) >= 0 && (!nan || type >= TensorElement.FLOAT16 && type <= TensorElement.TFLOAT32_FTZ),
                CudaError.INVALID_VALUE);
        DriverException.require(ELEMENT_BYTES[type] != 0 && call.number(8) == 0 && swizzle <= MOST_SWIZZLE,
                CudaError.NOT_SUPPORTED);
        TensorMap map = new TensorMap(ELEMENT_BYTES[type], call.word(3), new long[rank], new long[rank], new int[rank],
                new int[rank], swizzle, nan);
        for (int d = 0; d < rank; d++) {
            dimension(call, map, d);
        }
        long inner = (long) map.count(0) * map.elementBytes();
        DriverException.require(inner % ADDRESS_ALIGNMENT == 0
                && (swizzle == 0 || inner <= (long) LEAST_SWIZZLED_BYTES << swizzle), CudaError.INVALID_VALUE);
        map.write(to);
    }

    private static void dimension(Call call, TensorMap map, int d) {
        map.sizes()[d] = HostMemory.getLong(call.pointer(4) + 8L * d);
        map.strides()[d] = d == 0 ? map.elementBytes() : HostMemory.getLong(call.pointer(5) + 8L * (d - 1));
        map.box()[d] = HostMemory.getInt(call.pointer(6) + 4L * d);
        map.elementSteps()[d] = HostMemory.getInt(call.pointer(7) + 4L * d);
        DriverException.require(map.sizes()[d] >= 1 && map.sizes()[d] <= 1L << 32 && map.box()[d] >= 1
                && map.box()[d] <= LARGEST_BOX && map.elementSteps()[d] >= 1 && map.elementSteps()[d] <= LARGEST_STEP,
                CudaError.INVALID_VALUE);
        DriverException.require(d == 0 || map.strides()[d] % ADDRESS_ALIGNMENT == 0 && map.strides()[d] > 0
                && map.strides()[d] < LONGEST_STRIDE, CudaError.INVALID_VALUE);
    }
}
