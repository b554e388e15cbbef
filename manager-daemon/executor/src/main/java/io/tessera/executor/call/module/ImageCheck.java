package io.tessera.executor.call.module;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.RejectedException;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Checks that a module image is as long as its own headers say, because the driver gets only an address (RELAY.md, section 8). Stateless. */
final class ImageCheck {
    private static final int FAT_BINARY = 0xBA55ED50;
    private static final int WRAPPER = 0x466243b1;
    private static final int ELF = 0x464c457f;
    /** Fields of a 64-bit ELF header: section header offset, program header offset, entry sizes and counts. */
    private static final int ELF_HEADER_BYTES = 64;

    private ImageCheck() {
    }

    /**
     * Returns the driver's input for an image: the image itself, or a wrapper of version 2 over its parts.
     *
     * @throws RejectedException with INVALID_IMAGE if it is not an image, or is shorter than its headers say
     */
    static long address(CallFrame frame, MemorySegment image, long bytes) throws RejectedException {
        if (bytes >= 16 && image.get(WireTypes.U32, 0) == WRAPPER) {
            return wrapper(frame, image, bytes);
        }
        check(image, bytes);
        return image.address();
    }

    private static void check(MemorySegment image, long bytes) throws RejectedException {
        int magic = bytes >= 4 ? image.get(ValueLayout.JAVA_INT_UNALIGNED, 0) : 0;
        boolean whole = switch (magic) {
            case FAT_BINARY -> bytes >= 16 && fits(Short.toUnsignedInt(image.get(WireTypes.U16, 6)),
                    image.get(WireTypes.U64, 8), bytes);
            case ELF -> isWholeElf(image, bytes);
            default -> bytes > 0 && image.get(ValueLayout.JAVA_BYTE, bytes - 1) == 0;
        };
        if (!whole) {
            throw new RejectedException(CudaResult.INVALID_IMAGE, "an image that is not whole");
        }
    }

    private static boolean isWholeElf(MemorySegment image, long bytes) {
        if (bytes < ELF_HEADER_BYTES) {
            return false;
        }
        long sections = (long) Short.toUnsignedInt(image.get(WireTypes.U16, 58))
                * Short.toUnsignedInt(image.get(WireTypes.U16, 60));
        long segments = (long) Short.toUnsignedInt(image.get(WireTypes.U16, 54))
                * Short.toUnsignedInt(image.get(WireTypes.U16, 56));
        return fits(image.get(WireTypes.U64, 40), sections, bytes) && fits(image.get(WireTypes.U64, 32), segments, bytes);
    }

    private static boolean fits(long begin, long length, long bytes) {
        return begin >= 0 && length >= 0 && begin <= bytes && length <= bytes - begin;
    }

    /** Converts {u32 magic, u32 2, u64 count, u64 offset x count, fat binaries} to the wrapper that CUDA's compilers write. */
    private static long wrapper(CallFrame frame, MemorySegment image, long bytes) throws RejectedException {
        long count = image.get(WireTypes.U64, 8);
        if (image.get(WireTypes.U32, 4) != 2 || count < 1 || count > 4096 || 16 + count * Long.BYTES > bytes) {
            throw new RejectedException(CudaResult.INVALID_IMAGE, "a wrapper of " + count + " images");
        }
        MemorySegment wrapper = frame.room(24);
        MemorySegment pointers = frame.room(count * Long.BYTES);
        for (long i = 0; i < count; i++) {
            // Parts must be in sequence, so that no byte is copied or hashed twice.
            long offset = image.get(WireTypes.U64, 16 + i * Long.BYTES);
            long end = i + 1 < count ? image.get(WireTypes.U64, 16 + (i + 1) * Long.BYTES) : bytes;
            if (offset < 0 || offset >= bytes || offset % Long.BYTES != 0 || end <= offset || end > bytes) {
                throw new RejectedException(CudaResult.INVALID_IMAGE, "an image at " + offset);
            }
            MemorySegment part = image.asSlice(offset, end - offset);
            check(part, end - offset);
            if (i > 0) {
                pointers.set(WireTypes.U64, (i - 1) * Long.BYTES, part.address());
            } else {
                wrapper.set(WireTypes.U64, 8, part.address());
            }
        }
        wrapper.set(WireTypes.U32, 0, WRAPPER);
        wrapper.set(WireTypes.U32, 4, 2);
        wrapper.set(WireTypes.U64, 16, pointers.address());
        return wrapper.address();
    }
}
