package io.tessera.software.driver.entry.memory;

import io.tessera.device.MemoryType;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.Memcpy2D;
import io.tessera.software.driver.abi.StructLayouts.Memcpy3D;
import io.tessera.software.driver.memory.Extent3;
import io.tessera.software.driver.memory.PitchedPlace;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** CUDA_MEMCPY3D as bytes: the one form that every copy can be told in. */
final class MemcpyDescriptions {
    private MemcpyDescriptions() {
    }

    /** Reads members. */
    static final class Reader {
        private final ByteBuffer bytes;

        Reader(byte[] structure) {
            bytes = ByteBuffer.wrap(structure).order(ByteOrder.nativeOrder());
        }

        long word(int offset) {
            return bytes.getLong(offset);
        }

        int number(int offset) {
            return bytes.getInt(offset);
        }
    }

    private static ByteBuffer empty() {
        return ByteBuffer.allocate(Memcpy3D.BYTES).order(ByteOrder.nativeOrder());
    }

    /** A copy between linear places. */
    static byte[] linear(PitchedPlace from, int fromType, PitchedPlace to, int toType, Extent3 box) {
        ByteBuffer out = empty();
        side(out, Memcpy3D.SOURCE, from, fromType);
        side(out, Memcpy3D.TARGET, to, toType);
        return extent(out, box);
    }

    private static void side(ByteBuffer out, int half, PitchedPlace place, int type) {
        out.putInt(half + Memcpy3D.TYPE, type)
                .putLong(half + (type == MemoryType.HOST ? Memcpy3D.HOST : Memcpy3D.DEVICE), place.address())
                .putLong(half + Memcpy3D.PITCH, place.pitchBytes());
        if (place.pitchBytes() != 0) {
            out.putLong(half + Memcpy3D.HEIGHT, place.sliceBytes() / place.pitchBytes());
        }
    }

    private static byte[] extent(ByteBuffer out, Extent3 box) {
        return out.putLong(Memcpy3D.WIDTH, box.widthBytes()).putLong(Memcpy3D.ROWS, box.height())
                .putLong(Memcpy3D.DEPTH, box.depth()).array();
    }

    /** Returns the copy that CUDA_MEMCPY2D describes. */
    static byte[] of2D(long structure) {
        ByteBuffer out = empty();
        half2D(structure + Memcpy2D.SOURCE, out, Memcpy3D.SOURCE);
        half2D(structure + Memcpy2D.TARGET, out, Memcpy3D.TARGET);
        return extent(out, new Extent3(HostMemory.getLong(structure + Memcpy2D.WIDTH),
                HostMemory.getLong(structure + Memcpy2D.HEIGHT), 1));
    }

    private static void half2D(long in, ByteBuffer out, int half) {
        out.putLong(half + Memcpy3D.X, HostMemory.getLong(in + Memcpy2D.X))
                .putLong(half + Memcpy3D.Y, HostMemory.getLong(in + Memcpy2D.Y))
                .putInt(half + Memcpy3D.TYPE, HostMemory.getInt(in + Memcpy2D.TYPE))
                .putLong(half + Memcpy3D.HOST, HostMemory.getLong(in + Memcpy2D.HOST))
                .putLong(half + Memcpy3D.DEVICE, HostMemory.getLong(in + Memcpy2D.DEVICE))
                .putLong(half + Memcpy3D.ARRAY, HostMemory.getLong(in + Memcpy2D.ARRAY))
                .putLong(half + Memcpy3D.PITCH, HostMemory.getLong(in + Memcpy2D.PITCH));
    }

    /** A copy of bytes in a row, one side an array. */
    static byte[] withArray(int fromType, long from, long fromOffset, int toType, long to, long toOffset,
            long bytes) {
        ByteBuffer out = empty();
        arraySide(out, Memcpy3D.SOURCE, fromType, from, fromOffset);
        arraySide(out, Memcpy3D.TARGET, toType, to, toOffset);
        return extent(out, new Extent3(bytes, 1, 1));
    }

    private static void arraySide(ByteBuffer out, int half, int type, long object, long offset) {
        int member = switch (type) {
            case MemoryType.HOST -> Memcpy3D.HOST;
            case MemoryType.ARRAY -> Memcpy3D.ARRAY;
            default -> Memcpy3D.DEVICE;
        };
        out.putInt(half + Memcpy3D.TYPE, type).putLong(half + member, object).putLong(half + Memcpy3D.X, offset);
    }
}
