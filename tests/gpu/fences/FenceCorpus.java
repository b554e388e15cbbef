import io.tessera.guardian.fence.CheckedEntry;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Fences every {@code NAME.native.ptx} of a folder with each of some modes: {@code mask}, {@code modulo}, {@code check}, and
 * {@code plain}, which is mask without second entries, as launches have it that keep to no terms of theirs, and {@code many}, which is mask
 * without those for few blocks. Writes {@code NAME.MODE.ptx},
 * the variables that moved into the window as {@code NAME.MODE.variables} (constant, size, bytes in hexadecimal), the terms of second
 * entries as {@code NAME.MODE.entries}, and what was added as {@code NAME.MODE.report}. Run as a source file, with the application's classes:
 * {@code java -cp CLASSES FenceCorpus.java FOLDER MODE...}.
 */
public final class FenceCorpus {
    /** Mode MASK, of which second entries are not used. */
    private static final String PLAIN = "plain";
    /** Mode MASK, of which second entries for few blocks are not used. */
    private static final String MANY = "many";
    /** In a list of second entries: there is none for few blocks. */
    private static final String NONE = "-";

    private FenceCorpus() {
    }

    /** Exit status 1 if a module is refused. */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        boolean refused = false;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".native.ptx")).sorted().toList()) {
                for (int i = 1; i < arguments.length; i++) {
                    refused |= !fence(file, arguments[i]);
                }
            }
        }
        System.exit(refused ? 1 : 0);
    }

    private static boolean fence(Path original, String mode) throws IOException {
        boolean plain = mode.equals(PLAIN);
        FenceMode fenceMode = plain || mode.equals(MANY) ? FenceMode.MASK : FenceMode.valueOf(mode.toUpperCase(Locale.ROOT));
        String base = original.toString().replaceAll("native\\.ptx$", mode);
        try {
            FencedModule fenced = new Fencer(fenceMode).fence(PtxParser.parse(Files.readAllBytes(original)));
            if (!fenced.patches().isEmpty()) {
                throw new FenceRefusedException("module", 0, "constants with addresses of variables");
            }
            Files.writeString(Path.of(base + ".ptx"), fenced.ptx());
            Files.write(Path.of(base + ".variables"), fenced.variables().stream().map(FenceCorpus::line).toList());
            Files.write(Path.of(base + ".entries"), plain ? List.of() : fenced.entries().stream().map(entry -> line(entry, mode)).toList());
            Files.write(Path.of(base + ".report"), fenced.reports().stream().map(KernelReport::toString).toList());
            return true;
        } catch (FenceRefusedException | PtxException e) {
            System.err.println(original.getFileName() + ", " + mode + ": " + e.getMessage());
            for (String ending : List.of(".ptx", ".cubin", ".variables", ".entries")) {
                Files.deleteIfExists(Path.of(base + ending));
            }
            return false;
        }
    }

    private static String line(CheckedEntry entry, String mode) {
        String few = entry.few().isEmpty() || mode.equals(MANY) ? NONE : entry.few();
        StringBuilder line = new StringBuilder(String.join(" ", entry.kernel(), entry.entry(), few)).append(' ').append(entry.blockX()).append(' ')
                .append(entry.blockY()).append(' ').append(entry.gridX()).append(' ').append(entry.numbers().size());
        entry.numbers().forEach(number -> line.append(' ').append(number.parameter()).append(' ').append(number.offsetBytes()).append(' ')
                .append(number.bits()).append(' ').append(Long.toUnsignedString(number.most())));
        line.append(' ').append(entry.pointers().size());
        entry.pointers().forEach(pointer -> line.append(' ').append(pointer.parameter()).append(' ').append(pointer.offsetBytes()).append(' ')
                .append(pointer.alignmentBytes()));
        return line.toString();
    }

    private static String line(HoistedVariable variable) {
        return variable.constant() + " " + variable.sizeBytes() + " " + HexFormat.of().formatHex(variable.initial());
    }
}
