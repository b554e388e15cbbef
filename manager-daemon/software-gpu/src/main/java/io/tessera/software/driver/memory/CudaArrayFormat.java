package io.tessera.software.driver.memory;

import io.tessera.device.CudaEnums.ElementFormat;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** Formats of a channel of a CUDA array, with the numbers of CUarray_format. */
public enum CudaArrayFormat {
    /** Unsigned, 8 bits. */
    UNSIGNED_8(ElementFormat.UNSIGNED_INT8, 1),
    /** Unsigned, 16 bits. */
    UNSIGNED_16(ElementFormat.UNSIGNED_INT16, 2),
    /** Unsigned, 32 bits. */
    UNSIGNED_32(ElementFormat.UNSIGNED_INT32, 4),
    /** Signed, 8 bits. */
    SIGNED_8(ElementFormat.SIGNED_INT8, 1),
    /** Signed, 16 bits. */
    SIGNED_16(ElementFormat.SIGNED_INT16, 2),
    /** Signed, 32 bits. */
    SIGNED_32(ElementFormat.SIGNED_INT32, 4),
    /** IEEE half. */
    HALF(ElementFormat.HALF, 2),
    /** IEEE single. */
    FLOAT(ElementFormat.FLOAT, 4);

    private final int number;
    private final int bytes;

    CudaArrayFormat(int number, int bytes) {
        this.number = number;
        this.bytes = bytes;
    }

    /** Returns its number in the interface. */
    public int number() {
        return number;
    }

    /** Bytes of one channel. */
    public int bytes() {
        return bytes;
    }

    /** Returns whether texels are numbers with a point; the others are integers. */
    public boolean floating() {
        return this == HALF || this == FLOAT;
    }

    /** Returns the format with a number; ends the entry with INVALID_VALUE for a format that the software GPU lacks. */
    public static CudaArrayFormat of(int number) {
        for (CudaArrayFormat format : values()) {
            if (format.number == number) {
                return format;
            }
        }
        throw new DriverException(CudaError.INVALID_VALUE, "array format " + number);
    }
}
