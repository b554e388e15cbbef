package io.tessera.software.driver.operation;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.work.Operation;

/**
 * Sets elements of memory (CUDA_MEMSET_NODE_PARAMS).
 *
 * @param address      of the first element, a multiple of its size
 * @param pitchBytes   from a row to the next; without meaning for one row
 * @param value        in the low bits
 * @param elementBytes 1, 2 or 4
 * @param width        elements of a row
 * @param height       rows
 */
public record Fill(long address, long pitchBytes, int value, int elementBytes, long width, long height)
        implements Operation {
    private static final long SMALL_BYTES = 64 << 10;

    /** Refuses what the driver refuses. */
    public Fill {
        DriverException.require((elementBytes == 1 || elementBytes == 2 || elementBytes == 4)
                && address % elementBytes == 0 && width >= 0 && height >= 0 && holds(width, height, elementBytes, pitchBytes)
                && (height <= 1 || pitchBytes >= width * elementBytes && pitchBytes % elementBytes == 0),
                CudaError.INVALID_VALUE);
    }

    /** Returns whether 63 bits hold what it counts: a product that wrapped would pass for a small one. */
    private static boolean holds(long width, long height, int elementBytes, long pitchBytes) {
        try {
            Math.multiplyExact(height, Math.multiplyExact(width, (long) elementBytes));
            Math.addExact(height > 1 ? Math.multiplyExact(height - 1, pitchBytes) : 0, width * elementBytes);
            return true;
        } catch (ArithmeticException e) {
            return false;
        }
    }

    /** Bytes from the first to behind the last that it sets. */
    public long span() {
        return width == 0 || height == 0 ? 0 : (height > 1 ? (height - 1) * pitchBytes : 0) + width * elementBytes;
    }

    @Override
    public Place place() {
        return width * height * elementBytes <= SMALL_BYTES ? Place.HERE : Place.WORKER;
    }

    @Override
    public boolean run(Run task) {
        if (width == 0) {
            return true;
        }
        if (height > 0 && (height == 1 || pitchBytes == width * elementBytes)) {
            fillRow(address, width * height * elementBytes);
            return true;
        }
        for (long y = 0; y < height; y++) {
            fillRow(address + y * pitchBytes, width * elementBytes);
        }
        return true;
    }

    private void fillRow(long row, long bytes) {
        if (repeatsOneByte()) {
            HostMemory.fill(row, bytes, (byte) value);
            return;
        }
        if (elementBytes == 2) {
            HostMemory.putShort(row, (short) value);
        } else {
            HostMemory.putInt(row, value);
        }
        // The part that is done so far is the source for the next stretch, twice as long.
        for (long done = elementBytes; done < bytes;) {
            long next = Math.min(done, bytes - done);
            HostMemory.copy(row, row + done, next);
            done += next;
        }
    }

    private boolean repeatsOneByte() {
        byte low = (byte) value;
        return elementBytes == 1 || elementBytes == 2 && (byte) (value >> 8) == low
                || elementBytes == 4 && value == (low & 0xff) * 0x01010101;
    }
}
