import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.module.Fencer;
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
 * Fences every {@code NAME.native.ptx} of a folder with each of some modes: {@code mask}, {@code modulo}, {@code check}. Writes
 * {@code NAME.MODE.ptx}, the variables that moved into the window as {@code NAME.MODE.variables} (constant, size, bytes in
 * hexadecimal), and what was added as {@code NAME.MODE.report}. Run as a source file, with the application's classes:
 * {@code java -cp CLASSES FenceCorpus.java FOLDER MODE...}.
 */
public final class FenceCorpus {
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
        String base = original.toString().replaceAll("native\\.ptx$", mode);
        try {
            FencedModule fenced = new Fencer(FenceMode.valueOf(mode.toUpperCase(Locale.ROOT))).fence(PtxParser.parse(Files.readAllBytes(original)));
            if (!fenced.patches().isEmpty()) {
                throw new FenceRefusedException("module", 0, "constants with addresses of variables");
            }
            Files.writeString(Path.of(base + ".ptx"), fenced.ptx());
            Files.write(Path.of(base + ".variables"), fenced.variables().stream().map(FenceCorpus::line).toList());
            Files.write(Path.of(base + ".report"), fenced.reports().stream().map(KernelReport::toString).toList());
            return true;
        } catch (FenceRefusedException | PtxException e) {
            System.err.println(original.getFileName() + ", " + mode + ": " + e.getMessage());
            for (String ending : List.of(".ptx", ".cubin", ".variables")) {
                Files.deleteIfExists(Path.of(base + ending));
            }
            return false;
        }
    }

    private static String line(HoistedVariable variable) {
        return variable.constant() + " " + variable.sizeBytes() + " " + HexFormat.of().formatHex(variable.initial());
    }
}
