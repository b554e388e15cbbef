package io.tessera.executor.fence;

import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.FatBinary;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.trust.TrustedImage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * An image as it travels (RELAY.md, section 8), taken apart: the images whose PTX makes the program. Several where a
 * program was linked from relocatable parts: the linked image has machine code alone, its parts have PTX. Immutable as
 * long as nobody writes to the bytes, which are copies.
 *
 * @param images the images, at least one
 * @param main   bytes of the image that a driver would load
 */
public record ProgramSource(List<ModuleImage> images, byte[] main) {
    private static final int LABEL_DIGITS = 12;
    private static final int WRAPPER = 0x466243b1;

    /** Copies the list. */
    public ProgramSource {
        images = List.copyOf(images);
    }

    /** Takes an image apart that was checked to be whole. */
    public static ProgramSource of(MemorySegment travelled) {
        byte[] whole = travelled.toArray(ValueLayout.JAVA_BYTE);
        if (whole.length < 2 * Long.BYTES || travelled.get(ValueLayout.JAVA_INT_UNALIGNED, 0) != WRAPPER) {
            return new ProgramSource(List.of(ModuleImage.of(whole)), whole);
        }
        long count = travelled.get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES);
        List<ModuleImage> images = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            long offset = travelled.get(ValueLayout.JAVA_LONG_UNALIGNED, (2 + i) * Long.BYTES);
            images.add(ModuleImage.of(travelled.asSlice(offset).toArray(ValueLayout.JAVA_BYTE)));
        }
        byte[] first = images.getFirst().bytes();
        return new ProgramSource(images.size() == 1 ? images : images.subList(1, images.size()), first);
    }

    /** What users call it by: the first digits of its hash, as {@code tessera fence} prints it. */
    String label() {
        return TrustedImage.hashOf(main).substring(0, LABEL_DIGITS);
    }

    /** Whether it is one PTX text, which programs expect to be compiled when they load it. */
    boolean isText() {
        return images.size() == 1 && images.getFirst().kind() == ImageKind.PTX;
    }

    /** Whether there is nothing for a device at all: then the driver has no use for it either, whatever a policy says. */
    boolean isForOthers(ComputeCapability device) {
        for (ModuleImage image : images) {
            try {
                if (image.kind() != ImageKind.FAT_BINARY || FatBinary.parse(image.bytes()).hasCodeFor(device)) {
                    return false;
                }
            } catch (ImageException e) {
                return false; // what is wrong with it is said where it is loaded
            }
        }
        return true;
    }

    /** Why there is no PTX for a device; null if there is, as far as can be said without unpacking it. */
    String lacksPtx(ComputeCapability device) {
        for (ModuleImage image : images) {
            try {
                boolean there = switch (image.kind()) {
                    case PTX -> true;
                    case FAT_BINARY -> !FatBinary.parse(image.bytes()).ptxFor(device).isEmpty();
                    case CUBIN, LTO_IR, UNKNOWN -> false;
                };
                if (!there) {
                    return switch (image.kind()) {
                        case CUBIN -> "it is machine code alone";
                        case LTO_IR -> "it is LTO-IR, which is no PTX";
                        case UNKNOWN -> "it is of no kind that is known here";
                        default -> "it has no PTX for compute capability " + device;
                    };
                }
            } catch (ImageException e) {
                return e.getMessage();
            }
        }
        return null;
    }
}
