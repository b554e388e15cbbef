package io.tessera.executor.fence.program;

import io.tessera.executor.print.PrintingImage;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.FatBinary;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ModuleImage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * An image as it travels (RELAY.md, section 8), taken apart: the images whose PTX makes the program. Several where a
 * program was linked from relocatable parts: the linked image has machine code alone, its parts have PTX. May serve several
 * clients: what is found out about it is found out once. Thread-safe where its bytes are; immutable, because nobody writes to
 * them.
 */
public final class ProgramSource {
    private static final int LABEL_DIGITS = 12;
    private static final int WRAPPER = 0x466243b1;

    private final List<ModuleImage> images;
    private final ModuleImage main;
    private final Hold hold;
    private volatile Boolean prints;

    /** Storage of the bytes. */
    private enum Hold {
        /** In the data of a call, and only valid during it. */
        CALL,
        /** On the heap. */
        HEAP,
        /** Outside of the heap, as long as it is referenced. */
        KEPT
    }

    private ProgramSource(List<ModuleImage> images, ModuleImage main, Hold hold) {
        this.images = List.copyOf(images);
        this.main = main;
        this.hold = hold;
    }

    /** Creates a source of one image that belongs to a client. */
    public static ProgramSource of(ModuleImage image) {
        return new ProgramSource(List.of(image), image, Hold.HEAP);
    }

    /** Creates a source of one image in memory that is not modified and lives as long as it is referenced; it is not copied. */
    public static ProgramSource kept(MemorySegment memory) {
        ModuleImage image = ModuleImage.of(memory);
        return new ProgramSource(List.of(image), image, Hold.KEPT);
    }

    /**
     * Takes an image apart that was checked to be whole. Its bytes are those of the call that brought it, and are valid as long as that; a
     * caller that needs them longer takes {@link #held}.
     */
    public static ProgramSource of(MemorySegment travelled) {
        if (travelled.byteSize() < 2 * Long.BYTES || travelled.get(ValueLayout.JAVA_INT_UNALIGNED, 0) != WRAPPER) {
            ModuleImage image = ModuleImage.of(travelled);
            return new ProgramSource(List.of(image), image, Hold.CALL);
        }
        long count = travelled.get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES);
        List<ModuleImage> images = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            long begin = travelled.get(ValueLayout.JAVA_LONG_UNALIGNED, (2 + i) * Long.BYTES);
            long end = i + 1 < count ? travelled.get(ValueLayout.JAVA_LONG_UNALIGNED, (3 + i) * Long.BYTES) : travelled.byteSize();
            images.add(ModuleImage.of(travelled.asSlice(begin, end - begin)));
        }
        return new ProgramSource(images.size() == 1 ? images : images.subList(1, images.size()), images.getFirst(),
                Hold.CALL);
    }

    /** As above, with bytes that outlive the call. */
    public ProgramSource held() {
        if (hold != Hold.CALL) {
            return this;
        }
        List<ModuleImage> copies = images.stream().map(ProgramSource::copy).toList();
        int at = images.indexOf(main);
        ProgramSource held = new ProgramSource(copies, at < 0 ? copy(main) : copies.get(at), Hold.HEAP);
        held.prints = prints;
        return held;
    }

    private static ModuleImage copy(ModuleImage image) {
        return ModuleImage.of(image.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    /** Returns the images, at least one. */
    public List<ModuleImage> images() {
        return images;
    }

    /** Returns the image that a driver would load. */
    public ModuleImage main() {
        return main;
    }

    /** Returns whether its bytes stay where they are as long as something refers to this, outside of the heap. */
    public boolean isKept() {
        return hold == Hold.KEPT;
    }

    /** Returns the heap memory that it takes, in bytes. */
    public long heapBytes() {
        return hold == Hold.KEPT ? 0 : images.stream().mapToLong(image -> image.bytes().byteSize()).sum();
    }

    /** Returns its name for users: the first digits of its hash, as {@code tessera fence} prints it. */
    public String label() {
        return main.hash().substring(0, LABEL_DIGITS);
    }

    /** Returns whether its kernels can print, as far as that can be told. */
    public boolean prints() {
        Boolean known = prints;
        if (known == null) {
            known = PrintingImage.prints(main) || images.stream().anyMatch(image -> image != main && PrintingImage.prints(image));
            prints = known;
        }
        return known;
    }

    /** Returns whether it is one PTX text, which programs expect to be compiled when they load it. */
    public boolean isText() {
        return images.size() == 1 && images.getFirst().kind() == ImageKind.PTX;
    }

    /** Returns whether there is nothing for a device at all: then the driver has no use for it either, whatever a policy says. */
    public boolean isForOthers(ComputeCapability device) {
        for (ModuleImage image : images) {
            try {
                if (image.kind() != ImageKind.FAT_BINARY || image.fatBinary().hasCodeFor(device)) {
                    return false;
                }
            } catch (ImageException e) {
                return false; // its faults are reported where it is loaded
            }
        }
        return true;
    }

    /** Returns whether a driver that gets it as it is has to compile: unless it finds machine code for the device. */
    boolean isCompiled(ComputeCapability device) {
        try {
            return switch (main.kind()) {
                case CUBIN -> false;
                case FAT_BINARY -> !main.fatBinary().hasMachineCodeFor(device);
                case PTX, LTO_IR, UNKNOWN -> true;
            };
        } catch (ImageException e) {
            return true;
        }
    }

    /**
     * Returns why there is no PTX for a device that stands for the program; null if there is, as far as can be said without unpacking it. One of several parts
     * is enough: the compiler driver adds NVIDIA's library for launches by kernels to every program that it links, and that has PTX for few devices.
     */
    public String lacksPtx(ComputeCapability device) {
        return withPtx(device).isEmpty() ? lacksPtx(images.getFirst(), device) : null;
    }

    /** Returns how much PTX would be compiled for a device, in bytes; 0 where it is not told without unpacking. */
    public long ptxBytes(ComputeCapability device) {
        long bytes = 0;
        for (ModuleImage image : withPtx(device)) {
            try {
                bytes += image.kind() == ImageKind.PTX ? image.bytes().byteSize()
                        : image.fatBinary().ptxFor(device).stream().findFirst().map(FatBinaryEntry::unpackedBytes).orElse(0L);
            } catch (ImageException e) {
                return 0; // its faults are reported where it is loaded
            }
        }
        return bytes;
    }

    /** Returns the images that have PTX for a device: what is fenced. */
    List<ModuleImage> withPtx(ComputeCapability device) {
        return images.stream().filter(image -> lacksPtx(image, device) == null).toList();
    }

    /** Returns why one of its images, any, has no PTX for a device; null if all have. */
    String partLacksPtx(ComputeCapability device) {
        return images.stream().map(image -> lacksPtx(image, device)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static String lacksPtx(ModuleImage image, ComputeCapability device) {
        try {
            return switch (image.kind()) {
                case PTX -> null;
                case FAT_BINARY -> lacksPtx(image.fatBinary(), device);
                case CUBIN -> "it is machine code alone";
                case LTO_IR -> "it is LTO-IR, which is no PTX";
                case UNKNOWN -> "it is of no kind that is known here";
            };
        } catch (ImageException e) {
            return e.getMessage();
        }
    }

    private static String lacksPtx(FatBinary binary, ComputeCapability device) {
        return binary.ptxFor(device).isEmpty() ? "it has no PTX for compute capability " + device
                : binary.codeAheadOfPtx(device).orElse(null);
    }
}
