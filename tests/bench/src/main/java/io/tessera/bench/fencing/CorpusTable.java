package io.tessera.bench.fencing;

import io.tessera.guardian.image.FatBinaryEntry;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ImageKind;
import io.tessera.guardian.image.ImageScanner;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Fences all machine code of an architecture in libraries, and prints for each library the outcome of its functions. Exit code 1: a cubin
 * is not the same after it was written without fences, the verifier refuses a function that the fencer accepted, or something failed with
 * an exception other than a refusal.
 */
public final class CorpusTable {
    private static final long LARGEST_IMAGE = 1L << 30;
    private static final double NS_PER_S = 1e9;
    private static final MachineFence NONE = new MachineFence(MachineFence.Kind.NONE, 0x2000, 0);

    private final MachineFence fence;
    private final int architecture;
    private final long mostBytes;

    /** Counts of a library. */
    private static final class Row {
        int cubins;
        int read;
        int functions;
        int fenced;
        int verified;
        int equal;
        int failures;
        long bytes;
        long ns;
        final Map<String, Integer> refused = new TreeMap<>();

        int refusals() {
            return refused.values().stream().mapToInt(Integer::intValue).sum();
        }

        boolean isGood() {
            return equal == read && verified == fenced && failures == 0;
        }
    }

    private CorpusTable(MachineFence fence, int architecture, long mostBytes) {
        this.fence = fence;
        this.architecture = architecture;
        this.mostBytes = mostBytes;
    }

    /** Arguments: {@code --arch N}, {@code --fence mask|low-word}, {@code --most MIB}, {@code --json}, then files and folders. */
    public static void main(String[] arguments) throws IOException {
        int architecture = 90;
        long most = Long.MAX_VALUE;
        boolean json = false;
        MachineFence fence = MachineFence.of(0x2040_0000_0000L, 1L << 37);
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--json" -> json = true;
                case "--arch" -> architecture = Integer.parseInt(arguments[++i]);
                case "--most" -> most = Long.parseLong(arguments[++i]) << 20;
                case "--fence" -> fence = "low-word".equals(arguments[++i]) ? MachineFence.of(0x2001_0000_0000L, 1L << 32) : fence;
                default -> files.addAll(libraries(Path.of(arguments[i])));
            }
        }
        CorpusTable table = new CorpusTable(fence, architecture, most);
        boolean good = true;
        List<String> rows = new ArrayList<>();
        if (!json) {
            System.out.printf("%-40s %7s %9s %8s %9s %9s %7s%n", "library", "cubins", "functions", "refused", "identical", "verified", "MB/s");
        }
        for (Path file : files) {
            Row row = table.library(file);
            good &= row.isGood();
            if (json) {
                rows.add(json(file, row));
            } else if (row.cubins > 0) {
                print(file, row);
            }
        }
        if (json) {
            System.out.println("[" + String.join(",\n ", rows) + "]");
        }
        System.exit(good ? 0 : 1);
    }

    private static List<Path> libraries(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        try (Stream<Path> files = Files.walk(path)) {
            return files.filter(Files::isRegularFile).filter(file -> file.getFileName().toString().matches(".*(\\.so(\\.\\d+)*|\\.cubin|\\.fatbin)"))
                    .sorted().toList();
        }
    }

    private Row library(Path file) throws IOException {
        Row row = new Row();
        try (FileChannel channel = FileChannel.open(file); Arena arena = Arena.ofShared()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            List<FoundImage> images = file.toString().endsWith(".cubin") ? List.of() : ImageScanner.scan(mapped);
            if (file.toString().endsWith(".cubin")) {
                cubin(row, Files.readAllBytes(file));
            }
            for (FoundImage image : images) {
                if (row.bytes > mostBytes) {
                    break;
                }
                try {
                    image(row, image);
                } catch (ImageException e) {
                    row.refused.merge("image: " + e.getMessage().replaceAll("[0-9]+", "N"), 1, Integer::sum);
                }
            }
        }
        return row;
    }

    private void image(Row row, FoundImage image) throws ImageException {
        if (image.kind() == ImageKind.CUBIN) {
            cubin(row, image.bytes());
        } else if (image.kind() == ImageKind.FAT_BINARY) {
            for (FatBinaryEntry entry : ModuleImage.of(image.bytes()).fatBinary().entries()) {
                if (entry.kind() == FatBinaryEntry.Kind.CUBIN && entry.capability().sm() == architecture) {
                    cubin(row, entry.unpack(LARGEST_IMAGE));
                }
            }
        }
    }

    private void cubin(Row row, byte[] bytes) {
        try {
            Cubin cubin = Cubin.read(bytes);
            if (cubin.architecture() != architecture) {
                return;
            }
            row.cubins++;
            row.bytes += bytes.length;
            boolean equal = Arrays.equals(bytes, CubinFencer.fence(bytes, NONE).bytes());
            row.read++;
            row.equal += equal ? 1 : 0;
            long began = System.nanoTime();
            FencedCubin fenced = CubinFencer.fence(bytes, fence);
            Map<String, String> unseen = CubinVerifier.inspect(fenced.bytes(), fence, fenced.moved().places()).refused();
            row.ns += System.nanoTime() - began;
            fenced.functions().forEach(function -> count(row, function, unseen));
        } catch (MachineCodeException e) {
            row.refused.merge("cubin: " + e.getMessage(), 1, Integer::sum);
        } catch (RuntimeException e) {
            row.failures++;
            row.refused.merge("FAILED: " + e, 1, Integer::sum);
        }
    }

    private static void count(Row row, FunctionReport function, Map<String, String> unseen) {
        row.functions++;
        if (!function.isFenced()) {
            row.refused.merge(function.refusal().replaceAll(" at offset .*| 0x[0-9a-f]+,", ""), 1, Integer::sum);
            return;
        }
        row.fenced++;
        String why = unseen.get(function.name());
        row.verified += why == null ? 1 : 0;
        if (why != null) {
            row.refused.merge("BY THE VERIFIER: " + why.replaceAll(" at offset .*", ""), 1, Integer::sum);
        }
    }

    private static double megabytesPerSecond(Row row) {
        return row.ns == 0 ? 0 : row.bytes / 1e6 / (row.ns / NS_PER_S);
    }

    private static void print(Path file, Row row) {
        System.out.printf(Locale.ROOT, "%-40s %7d %9d %8d %4d/%-4d %4d/%-6d %5.1f%n", file.getFileName(), row.cubins, row.functions, row.refusals(),
                row.equal, row.read, row.verified, row.fenced, megabytesPerSecond(row));
        row.refused.entrySet().stream().sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .forEach(why -> System.out.printf("  %9d %s%n", why.getValue(), why.getKey()));
    }

    private static String json(Path file, Row row) {
        String refused = row.refused.entrySet().stream().map(why -> quoted(why.getKey()) + ": " + why.getValue()).collect(Collectors.joining(", "));
        return String.format(Locale.ROOT,
                "{\"library\": %s, \"cubins\": %d, \"read\": %d, \"functions\": %d, \"fenced\": %d, \"verified\": %d, \"identical\": %d, \"failures\": %d, "
                        + "\"bytes\": %d, \"megabytesPerSecond\": %.1f, \"refused\": {%s}}",
                quoted(file.getFileName().toString()), row.cubins, row.read, row.functions, row.fenced, row.verified, row.equal, row.failures,
                row.bytes,
                megabytesPerSecond(row), refused);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
