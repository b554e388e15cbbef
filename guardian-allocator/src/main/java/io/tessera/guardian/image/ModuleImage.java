package io.tessera.guardian.image;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a program gave to load: of whatever kind, and what PTX is in it. Immutable as long as nobody writes to the bytes.
 *
 * @param kind  what it is
 * @param bytes all of it; not copied, so the caller passes bytes that no client can still write
 */
public record ModuleImage(ImageKind kind, byte[] bytes) {
    /** A module's PTX is never larger; libraries' are below 64 MiB. */
    public static final long DEFAULT_CAP_BYTES = 256L << 20;

    /** Looks at the first bytes of an image. */
    public static ModuleImage of(byte[] bytes) {
        return new ModuleImage(ImageKind.of(bytes), bytes);
    }

    /**
     * The best PTX for a GPU.
     *
     * @param gpu      what it is to run on; not asked where the image is PTX itself
     * @param capBytes how large the PTX may be
     * @return its text, without a final NUL
     * @throws ImageException if there is none, with the reason, or if the image is malformed
     */
    public byte[] ptx(ComputeCapability gpu, long capBytes) throws ImageException {
        return switch (kind) {
            case PTX -> text(capBytes);
            case FAT_BINARY -> fromFatBinary(gpu, capBytes);
            case CUBIN -> throw new ImageException("the image is a cubin: machine code without PTX");
            case LTO_IR -> throw new ImageException("the image is LTO-IR: it has to be linked first");
            case UNKNOWN -> throw new ImageException("the image is no fat binary, cubin, PTX or LTO-IR");
        };
    }

    private byte[] text(long capBytes) throws ImageException {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        if (length > capBytes) {
            throw new ImageException("PTX of " + length + " bytes, allowed are " + capBytes);
        }
        return Arrays.copyOf(bytes, length);
    }

    private byte[] fromFatBinary(ComputeCapability gpu, long capBytes) throws ImageException {
        FatBinary fatBinary = FatBinary.parse(bytes);
        List<FatBinaryEntry> usable = fatBinary.ptxFor(gpu);
        if (usable.isEmpty()) {
            List<String> found = new ArrayList<>();
            for (FatBinaryEntry entry : fatBinary.entries()) {
                found.add(entry.kind() + " sm_" + entry.capability().sm() + entry.specificity().suffix());
            }
            throw new ImageException("no PTX for capability " + gpu + " in the fat binary; it has "
                    + (found.isEmpty() ? "nothing" : String.join(", ", found.subList(0, Math.min(20, found.size())))));
        }
        return usable.getFirst().unpack(capBytes);
    }
}
