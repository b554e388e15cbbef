package io.tessera.guardian.image;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Little-endian numbers in an array. The caller has checked that they lie inside; the array does again.
 *
 * @param array the bytes, not copied
 */
record Bytes(byte[] array) {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    int u16(int at) {
        return (short) SHORT.get(array, at) & 0xFFFF;
    }

    /** 32 bits; the caller decides whether they are signed. */
    int u32(int at) {
        return (int) INT.get(array, at);
    }

    /** 64 bits; a size that comes out negative is too large for anything. */
    long u64(int at) {
        return (long) LONG.get(array, at);
    }
}
