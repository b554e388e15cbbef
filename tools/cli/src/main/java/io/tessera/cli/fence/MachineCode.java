package io.tessera.cli.fence;

import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import java.util.ArrayList;
import java.util.List;

/**
 * The machine code of an image in every form in which a program may hand it to the driver: the image itself, and each unpacked piece of a
 * fat binary, for libraries that choose the piece themselves. Immutable.
 *
 * @param image   hash of the image; empty: it has no machine code
 * @param pieces  pieces of a fat binary, in its order
 * @param unknown number of further pieces whose compression is not known
 */
record MachineCode(String image, List<Piece> pieces, int unknown) {
    /**
     * Machine code for one GPU.
     *
     * @param madeFor target GPU, as {@code sm_90a}
     * @param hash    hash of the cubin
     */
    record Piece(String madeFor, String hash) {
    }

    /**
     * Unpacks and hashes the machine code of an image.
     *
     * @throws ImageException if the image itself is damaged
     */
    static MachineCode of(FoundImage found) throws ImageException {
        return switch (found.kind()) {
            case CUBIN -> new MachineCode(found.image().hash(), List.of(), 0);
            case FAT_BINARY -> ofFatBinary(found.image());
            case PTX, LTO_IR, UNKNOWN -> new MachineCode("", List.of(), 0);
        };
    }

    private static MachineCode ofFatBinary(ModuleImage image) throws ImageException {
        List<Piece> pieces = new ArrayList<>();
        int unknown = 0;
        for (FatBinaryEntry entry : image.fatBinary().entries()) {
            if (entry.kind() == FatBinaryEntry.Kind.CUBIN) {
                try {
                    byte[] cubin = entry.unpack(ModuleImage.DEFAULT_CAP_BYTES);
                    pieces.add(new Piece(entry.madeFor(), ModuleImage.of(cubin).hash()));
                } catch (ImageException e) {
                    unknown++;
                }
            }
        }
        return new MachineCode(pieces.isEmpty() && unknown == 0 ? "" : image.hash(), pieces, unknown);
    }

    /** Returns whether there is any machine code. */
    boolean isThere() {
        return !image.isEmpty();
    }
}
