package io.tessera.executor.call;

import io.tessera.device.CudaLayouts.CUDA_MEMCPY2D;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY3D;
import io.tessera.device.CudaLayouts.CUDA_MEMCPY3D_PEER;
import io.tessera.device.CudaResult;
import io.tessera.device.HandleKind;
import io.tessera.device.MemoryType;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.handle.HandleTable;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Checks and translates the structures of copies in two and three dimensions (cuda.h): arrays in them are handles, addresses must be
 * the client's, and boxes must lie in their arrays. One owner thread.
 */
public final class CopyStructures {
    /** Offsets of one side of {@code CUDA_MEMCPY2D}, from its begin. */
    private static final Side PLANE_SIDE = new Side(CUDA_MEMCPY2D.srcXInBytes, CUDA_MEMCPY2D.srcY, -1, CUDA_MEMCPY2D.srcMemoryType,
            CUDA_MEMCPY2D.srcHost, CUDA_MEMCPY2D.srcDevice, CUDA_MEMCPY2D.srcArray, CUDA_MEMCPY2D.srcPitch, -1);
    /** Offsets of one side of {@code CUDA_MEMCPY3D} and {@code CUDA_MEMCPY3D_PEER}. */
    private static final Side BOX_SIDE = new Side(CUDA_MEMCPY3D.srcXInBytes, CUDA_MEMCPY3D.srcY, CUDA_MEMCPY3D.srcZ, CUDA_MEMCPY3D.srcMemoryType,
            CUDA_MEMCPY3D.srcHost, CUDA_MEMCPY3D.srcDevice, CUDA_MEMCPY3D.srcArray, CUDA_MEMCPY3D.srcPitch, CUDA_MEMCPY3D.srcHeight);

    private final ClientHandles handles;
    private final AddressCheck addresses;
    private final ArrayBounds arrays;
    private final long context;

    private record Side(int x, int y, int z, int type, int host, int device, int array, int pitch, int height) {
    }

    /** Creates an instance for one client; {@code context} is the driver's. */
    public CopyStructures(ClientHandles handles, AddressCheck addresses, ArrayBounds arrays, long context) {
        this.handles = handles;
        this.addresses = addresses;
        this.arrays = arrays;
        this.context = context;
    }

    /**
     * Checks and translates {@code CUDA_MEMCPY2D} in place.
     *
     * @throws RejectedException if a part of it is not the client's
     */
    public void plane(MemorySegment copy) throws RejectedException {
        long width = copy.get(WireTypes.U64, CUDA_MEMCPY2D.WidthInBytes);
        long height = copy.get(WireTypes.U64, CUDA_MEMCPY2D.Height);
        side(copy, 0, PLANE_SIDE, width, height, 1);
        side(copy, CUDA_MEMCPY2D.dstXInBytes, PLANE_SIDE, width, height, 1);
    }

    /**
     * Checks and translates {@code CUDA_MEMCPY3D} in place; of the peer form the contexts too.
     *
     * @throws RejectedException if a part of it is not the client's
     */
    public void box(MemorySegment copy, boolean peer) throws RejectedException {
        long width = copy.get(WireTypes.U64, CUDA_MEMCPY3D.WidthInBytes);
        long height = copy.get(WireTypes.U64, CUDA_MEMCPY3D.Height);
        long depth = copy.get(WireTypes.U64, CUDA_MEMCPY3D.Depth);
        for (int begin = 0; begin <= CUDA_MEMCPY3D.dstXInBytes; begin += CUDA_MEMCPY3D.dstXInBytes) {
            side(copy, begin, BOX_SIDE, width, height, depth);
            copy.set(WireTypes.U64, begin + CUDA_MEMCPY3D_PEER.srcContext, peer ? context : 0);
        }
    }

    private void side(MemorySegment copy, int begin, Side side, long width, long height, long depth)
            throws RejectedException {
        int type = copy.get(WireTypes.U32, begin + side.type);
        boolean flat = side.z < 0;
        long x = copy.get(WireTypes.U64, begin + side.x);
        long y = copy.get(WireTypes.U64, begin + side.y);
        long z = flat ? 0 : copy.get(WireTypes.U64, begin + side.z);
        switch (type) {
            case MemoryType.HOST, MemoryType.DEVICE, MemoryType.UNIFIED -> {
                long base = copy.get(WireTypes.U64, begin + (type == MemoryType.HOST ? side.host : side.device));
                addresses.rows(base, PitchedExtent.bytes(x, y, z, copy.get(WireTypes.U64, begin + side.pitch),
                        flat ? 0 : copy.get(WireTypes.U64, begin + side.height), width, height, depth), height * depth);
            }
            case MemoryType.ARRAY -> {
                long array = handles.value(HandleKind.ARRAY, copy.get(WireTypes.U64, begin + side.array));
                if (array == HandleTable.NONE) {
                    throw new RejectedException(CudaResult.INVALID_HANDLE, "no array of the client");
                }
                arrays.box(array, x, y, z, width, height, depth);
                copy.set(WireTypes.U64, begin + side.array, array);
            }
            default -> throw CallFrame.malformed("memory of type " + type);
        }
    }
}
