package io.tessera.bench.fencing;

import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ImageScanner;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.container.Cubin;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Prints the SHA-256 of every linked cubin of an architecture in libraries, unpacked, one a line and sorted: what {@code VendorCode} in guardian-allocator reads. The same files
 * give the same lines. {@code tests/corpus/hashes} runs it.
 */
public final class VendorHashes {
    private static final long LARGEST_CUBIN = 1L << 30;

    private final int architecture;
    private final SortedSet<String> hashes = new TreeSet<>();

    private VendorHashes(int architecture) {
        this.architecture = architecture;
    }

    /** Arguments: the number of an architecture, then files. Standard error names what cannot be read. */
    public static void main(String[] arguments) throws IOException {
        VendorHashes all = new VendorHashes(Integer.parseInt(arguments[0]));
        for (String file : List.of(arguments).subList(1, arguments.length)) {
            all.library(Path.of(file));
        }
        all.hashes.forEach(System.out::println);
    }

    private void library(Path file) throws IOException {
        int before = hashes.size();
        int unknown = 0;
        try (FileChannel channel = FileChannel.open(file); Arena arena = Arena.ofShared()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            for (FoundImage image : ImageScanner.scan(mapped)) {
                try {
                    image(image);
                } catch (ImageException e) {
                    unknown++;
                }
            }
        }
        System.err.println(file.getFileName() + ": " + (hashes.size() - before) + " cubins more, " + unknown + " images cannot be read");
    }

    private void image(FoundImage image) throws ImageException {
        if (image.kind() == ImageKind.CUBIN) {
            cubin(image.bytes());
        } else if (image.kind() == ImageKind.FAT_BINARY) {
            for (FatBinaryEntry entry : ModuleImage.of(image.bytes()).fatBinary().entries()) {
                if (entry.kind() == FatBinaryEntry.Kind.CUBIN && entry.capability().sm() == architecture) {
                    cubin(entry.unpack(LARGEST_CUBIN));
                }
            }
        }
    }

    private void cubin(byte[] bytes) {
        try {
            Cubin cubin = Cubin.read(bytes);
            if (cubin.architecture() == architecture && !cubin.isRelocatable()) {
                hashes.add(ModuleImage.of(bytes).hash());
            }
        } catch (MachineCodeException e) {
            return; // no driver loads it for this architecture either
        }
    }
}
