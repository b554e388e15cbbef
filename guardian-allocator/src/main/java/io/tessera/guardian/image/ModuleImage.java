package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * An image that a program asked to load, of any kind, and the PTX in it. The hash and a fat binary's table take time, because an image may have
 * hundreds of megabytes; they are computed on first use and kept. Thread-safe and immutable as long as nobody writes to the bytes.
 */
public final class ModuleImage {
    /** A module's PTX is never larger; libraries' are below 64 MiB. */
    public static final long DEFAULT_CAP_BYTES = 256L << 20;

    private final ImageKind kind;
    private final MemorySegment bytes;
    private volatile String hash;
    private volatile FatBinary fatBinary;

    private ModuleImage(ImageKind kind, MemorySegment bytes) {
        this.kind = kind;
        this.bytes = bytes;
    }

    /**
     * Looks at the first bytes of an image.
     *
     * @param bytes all of it; not copied, so the caller passes bytes that no client can still write
     */
    public static ModuleImage of(MemorySegment bytes) {
        return new ModuleImage(ImageKind.of(bytes), bytes);
    }

    /** As above, from an array. */
    public static ModuleImage of(byte[] bytes) {
        return of(MemorySegment.ofArray(bytes));
    }

    /** Returns the kind of the image. */
    public ImageKind kind() {
        return kind;
    }

    /** All of it, not copied. */
    public MemorySegment bytes() {
        return bytes;
    }

    /** SHA-256 of an image up to its declared end, as 64 lower-case hexadecimal digits; what lies behind does not count. */
    public String hash() {
        String known = hash;
        if (known == null) {
            known = hashOf(bytes.asSlice(0, ImageExtent.of(bytes)));
            hash = known;
        }
        return known;
    }

    private static String hashOf(MemorySegment content) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(content.asByteBuffer());
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * Returns its table of images.
     *
     * @throws ImageException if it is not a fat binary, or is damaged
     */
    public FatBinary fatBinary() throws ImageException {
        FatBinary known = fatBinary;
        if (known == null) {
            known = FatBinary.parse(bytes);
            fatBinary = known;
        }
        return known;
    }

    /**
     * Returns the best PTX for a GPU.
     *
     * @param gpu      the GPU that it is to run on; ignored if the image is PTX itself
     * @param capBytes maximum size of the PTX
     * @return its text, without a final NUL
     * @throws ImageException if there is none, with the reason, or if the image is malformed
     */
    public byte[] ptx(ComputeCapability gpu, long capBytes) throws ImageException {
        return switch (kind) {
            case PTX -> text(capBytes);
            case FAT_BINARY -> entryFor(gpu, capBytes).unpack(capBytes);
            case CUBIN -> throw new ImageException("the image is a cubin: machine code without PTX");
            case LTO_IR -> throw new ImageException("the image is LTO-IR: it has to be linked first");
            case UNKNOWN -> throw new ImageException("the image is no fat binary, cubin, PTX or LTO-IR");
        };
    }

    /**
     * Returns an image that holds {@link #ptx} of this one and as little else as possible. It is compressed as in this image, to be unpacked by the
     * receiver.
     *
     * @param gpu      as in {@link #ptx}
     * @param capBytes maximum size of the image
     * @throws ImageException if there is none, with the reason, or if this image is malformed
     */
    public byte[] ptxImage(ComputeCapability gpu, long capBytes) throws ImageException {
        return kind == ImageKind.FAT_BINARY ? entryFor(gpu, capBytes).alone() : ptx(gpu, capBytes);
    }

    private byte[] text(long capBytes) throws ImageException {
        long length = ImageExtent.of(bytes);
        if (length > capBytes) {
            throw new ImageException("PTX of " + length + " bytes, allowed are " + capBytes);
        }
        return bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private FatBinaryEntry entryFor(ComputeCapability gpu, long capBytes) throws ImageException {
        List<FatBinaryEntry> usable = fatBinary().ptxFor(gpu);
        if (usable.isEmpty()) {
            List<String> found = new ArrayList<>();
            for (FatBinaryEntry entry : fatBinary().entries()) {
                found.add(entry.kind() + " " + entry.madeFor());
            }
            throw new ImageException("no PTX for capability " + gpu + " in the fat binary; it has "
                    + (found.isEmpty() ? "nothing" : String.join(", ", found.subList(0, Math.min(20, found.size())))));
        }
        FatBinaryEntry best = usable.getFirst();
        if (best.storedBytes() > capBytes) {
            throw new ImageException(best + " is longer than " + capBytes + " bytes");
        }
        return best;
    }

    @Override
    public String toString() {
        return kind + " of " + bytes.byteSize() + " bytes";
    }
}
