package io.tessera.software.driver.operation;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Calls functions of the program by their address. */
public final class NativeCalls {
    private static final MethodHandle HOST_FUNCTION = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    private static final MethodHandle STREAM_CALLBACK = Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    private static final MethodHandle SIZE_BY_BLOCK = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));

    private NativeCalls() {
    }

    /** Calls a CUhostFn. */
    public static void hostFunction(long function, long userData) {
        try {
            HOST_FUNCTION.invokeExact(MemorySegment.ofAddress(function), MemorySegment.ofAddress(userData));
        } catch (Throwable e) {
            throw new IllegalStateException("host function at 0x" + Long.toHexString(function), e);
        }
    }

    /** Calls a CUstreamCallback. */
    public static void streamCallback(long function, long stream, int status, long userData) {
        try {
            STREAM_CALLBACK.invokeExact(MemorySegment.ofAddress(function), MemorySegment.ofAddress(stream), status,
                    MemorySegment.ofAddress(userData));
        } catch (Throwable e) {
            throw new IllegalStateException("stream callback at 0x" + Long.toHexString(function), e);
        }
    }

    /** Calls a CUoccupancyB2DSize: bytes of dynamic shared memory for a number of threads in a block. */
    public static long sizeByBlock(long function, int blockSize) {
        try {
            return (long) SIZE_BY_BLOCK.invokeExact(MemorySegment.ofAddress(function), blockSize);
        } catch (Throwable e) {
            throw new IllegalStateException("occupancy function at 0x" + Long.toHexString(function), e);
        }
    }
}
