package io.tessera.software.driver.module;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;

/**
 * Determines the length of an image of which only the address is given: a fat binary and a cubin contain it, PTX ends with a zero byte. The caller guarantees
 * that the memory is readable.
 */
final class ImageBytes {
    private static final int WRAPPER = 0x466243b1;
    private static final int FAT_BINARY = 0xba55ed50;
    private static final int ELF = 0x464c457f;
    private static final int WRAPPER_DATA = 8;
    private static final int FAT_BINARY_HEADER = 16;
    private static final long LARGEST = 1L << 30;

    private ImageBytes() {
    }

    /** A copy of an image's bytes, a wrapper around a fat binary taken off. */
    static byte[] at(long address) {
        long image = address;
        if (HostMemory.getInt(image) == WRAPPER) {
            image = HostMemory.getLong(image + WRAPPER_DATA);
            DriverException.require(image != 0, CudaError.INVALID_IMAGE);
        }
        long bytes = switch (HostMemory.getInt(image)) {
            case FAT_BINARY -> FAT_BINARY_HEADER + HostMemory.getLong(image + 8);
            case ELF -> elfBytes(image);
            default -> textBytes(image);
        };
        DriverException.require(bytes >= 0 && bytes <= LARGEST, CudaError.INVALID_IMAGE);
        return HostMemory.get(image, bytes);
    }

    /** An ELF file of 64 bits ends with its section headers, as linkers write it. */
    private static long elfBytes(long image) {
        long headers = HostMemory.getLong(image + 40);
        return headers + (long) (HostMemory.getShort(image + 58) & 0xffff) * (HostMemory.getShort(image + 60) & 0xffff);
    }

    private static long textBytes(long image) {
        long length = 0;
        while (length < LARGEST && HostMemory.getByte(image + length) != 0) {
            length++;
        }
        return length;
    }
}
