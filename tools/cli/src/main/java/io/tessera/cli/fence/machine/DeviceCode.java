package io.tessera.cli.fence.machine;

import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.FatBinary;
import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageExtent;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.container.Cubin;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * The machine code of an image for the GPU whose instructions are known. Immutable as long as the bytes are not modified.
 *
 * @param cubin         the cubin that a driver would load on that GPU; null: the image has none
 * @param architectures architectures of the image's machine code, as {@code sm_90a}, in its order
 */
record DeviceCode(byte[] cubin, List<String> architectures) {
    /** Architecture number of the GPU. */
    static final int SM = 90;
    private static final ComputeCapability GPU = ComputeCapability.ofSm(SM);

    /** Copies the list. */
    DeviceCode {
        architectures = List.copyOf(architectures);
    }

    /**
     * Extracts the machine code from an image, as an executor does.
     *
     * @throws ImageException       if the image is damaged or its code cannot be identified
     * @throws MachineCodeException if it is a damaged cubin
     */
    static DeviceCode of(FoundImage found) throws ImageException, MachineCodeException {
        return switch (found.kind()) {
            case CUBIN -> ofCubin(found.image().bytes());
            case FAT_BINARY -> ofFatBinary(found.image().fatBinary());
            case PTX, LTO_IR, UNKNOWN -> new DeviceCode(null, List.of());
        };
    }

    private static DeviceCode ofCubin(MemorySegment bytes) throws MachineCodeException {
        byte[] cubin = bytes.asSlice(0, ImageExtent.of(bytes)).toArray(ValueLayout.JAVA_BYTE);
        int architecture = Cubin.read(cubin).architecture();
        return new DeviceCode(architecture == SM ? cubin : null, List.of("sm_" + architecture));
    }

    private static DeviceCode ofFatBinary(FatBinary fat) throws ImageException {
        List<String> architectures = fat.entries().stream().filter(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN).map(FatBinaryEntry::madeFor)
                .distinct().toList();
        Optional<FatBinaryEntry> entry = fat.machineCodeFor(GPU);
        if (entry.isEmpty() && fat.hasMachineCodeFor(GPU)) {
            throw new ImageException("several cubins are for the same GPU; which one the driver takes is not known");
        }
        return new DeviceCode(entry.isEmpty() ? null : entry.get().unpack(ModuleImage.DEFAULT_CAP_BYTES), architectures);
    }
}
