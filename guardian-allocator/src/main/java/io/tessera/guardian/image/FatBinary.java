package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A fat binary as nvcc 13.0 and its predecessors since CUDA 5 write it: a header of 16 bytes and entries, each with a header of its own. NVIDIA does
 * not document the format; this reader follows measurements on files of nvcc 13.0. Immutable as long as nobody writes to the bytes.
 *
 * @param entries in the order of the file
 */
public record FatBinary(List<FatBinaryEntry> entries) {
    private static final int VERSION = 1;
    /** Entries are read into memory: far above what compilers write, which make one for each GPU and kind. */
    private static final int MOST_ENTRIES = 1 << 16;
    /** Order by the GPU that an entry was made for. */
    private static final Comparator<FatBinaryEntry> ORDER = Comparator.comparing(FatBinaryEntry::capability)
            .thenComparing(FatBinaryEntry::specificity);

    /** Copies the list. */
    public FatBinary {
        entries = List.copyOf(entries);
    }

    /**
     * Reads the headers of a fat binary; unpacks nothing, and looks at no other byte.
     *
     * @param image the bytes, which are kept and not copied; what follows the declared size is passed over
     * @throws ImageException if it is none, or if a size that it declares leaves the bytes
     */
    public static FatBinary parse(MemorySegment image) throws ImageException {
        Bytes bytes = new Bytes(image);
        if (bytes.size() < FatBinaryEntry.FILE_HEADER_BYTES || bytes.u32(0) != ImageKind.FAT_BINARY_MAGIC) {
            throw new ImageException("not a fat binary: " + bytes.size() + " bytes without its magic number");
        }
        int version = bytes.u16(4);
        int header = bytes.u16(6);
        long size = bytes.u64(8);
        if (version != VERSION || header < FatBinaryEntry.FILE_HEADER_BYTES || header > bytes.size()) {
            throw new ImageException("fat binary of version " + version + " with a header of " + header + " bytes");
        }
        if (size < 0 || size > Math.min(bytes.size(), Integer.MAX_VALUE) - header) {
            throw new ImageException("fat binary declares " + Long.toUnsignedString(size) + " bytes, "
                    + (bytes.size() - header) + " are there");
        }
        int end = header + (int) size;
        List<FatBinaryEntry> entries = new ArrayList<>();
        for (int at = header; at < end; at = entries.getLast().end()) {
            if (entries.size() == MOST_ENTRIES) {
                throw new ImageException("fat binary of more than " + MOST_ENTRIES + " entries");
            }
            entries.add(new FatBinaryEntry(image, at, end));
        }
        return new FatBinary(entries);
    }

    /**
     * Returns whether the fat binary has code that can run on a GPU: PTX, machine code for the GPU, or code for linking. Libraries have many images
     * for older GPUs only. The driver answers NO_BINARY_FOR_GPU for those, and programs expect that.
     */
    public boolean hasCodeFor(ComputeCapability gpu) {
        return !ptxFor(gpu).isEmpty() || entries.stream().anyMatch(entry -> entry.codeRunsOn(gpu));
    }

    /** Returns whether there is machine code for a GPU, so that no compilation is needed. */
    public boolean hasMachineCodeFor(ComputeCapability gpu) {
        return entries.stream().anyMatch(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN && entry.codeRunsOn(gpu));
    }

    /**
     * Returns the machine code that a driver loads on a GPU: the code made for the nearest GPU, and the most specific of these.
     *
     * @return empty if there is none, or if several are equal: it is not documented which of them the driver takes
     */
    public Optional<FatBinaryEntry> machineCodeFor(ComputeCapability gpu) {
        List<FatBinaryEntry> usable = entries.stream()
                .filter(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN && entry.codeRunsOn(gpu)).sorted(ORDER.reversed()).toList();
        boolean several = usable.size() > 1 && ORDER.compare(usable.get(0), usable.get(1)) == 0;
        return usable.isEmpty() || several ? Optional.empty() : Optional.of(usable.getFirst());
    }

    /**
     * The PTX that can be compiled for a GPU, best first: made for the GPU nearest to it, and of these the most specific
     * one, as the driver chooses. A GPU that lacks the instructions that a specific one uses takes a later one.
     */
    public List<FatBinaryEntry> ptxFor(ComputeCapability gpu) {
        return entries.stream()
                .filter(e -> e.kind() == FatBinaryEntry.Kind.PTX && e.specificity().ptxRunsOn(e.capability(), gpu))
                .sorted(ORDER.reversed())
                .toList();
    }

    /**
     * Machine code that a driver would run on a GPU and that was made for a newer or more specific GPU than all PTX that could run
     * there: what it does may be missing in the PTX, which programs write for older GPUs then, often as kernels without a body
     * ({@code #if __CUDA_ARCH__ >= 900}).
     *
     * @return a sentence with both, for users; empty: the PTX stands for the program, or there is none
     */
    public Optional<String> codeAheadOfPtx(ComputeCapability gpu) {
        List<FatBinaryEntry> usable = ptxFor(gpu);
        if (usable.isEmpty()) {
            return Optional.empty();
        }
        FatBinaryEntry best = usable.getFirst();
        return entries.stream().filter(entry -> entry.kind() == FatBinaryEntry.Kind.CUBIN && entry.codeRunsOn(gpu)
                && ORDER.compare(entry, best) > 0)
                .max(ORDER).map(code -> "its PTX is for " + best.madeFor() + ", its machine code for " + code.madeFor()
                        + ": they need not be the same program");
    }
}
