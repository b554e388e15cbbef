import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
            FencedModule fenced = null;
            Verdict seen = null;
            // As an executor does: what is not seen to be fenced is fenced without proofs.
            for (PlainFunctions plain = PlainFunctions.none(); plain != null;) {
                fenced = new Fencer(FenceMode.valueOf(mode.toUpperCase(Locale.ROOT))).plainly(plain).fence(PtxParser.parse(Files.readAllBytes(original)));
                seen = FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(mode.toUpperCase(Locale.ROOT)), false);
                plain = seen.rejected().isEmpty() || plain.all() ? null : plain.with(seen.unproven());
            }
            seen.rejected().forEach((kernel, why) -> System.err.println(original.getFileName() + ", " + mode + ": an executor refuses " + kernel + ": " + why.getMessage()));
            if (!fenced.patches().isEmpty()) {
                throw new FenceRefusedException("module", 0, "constants with addresses of variables");
            }
            Files.writeString(Path.of(base + ".ptx"), seen.rejected().isEmpty() ? seen.text() : fenced.ptx());
            Files.write(Path.of(base + ".variables"), fenced.variables().stream().map(FenceCorpus::line).toList());
            Files.write(Path.of(base + ".report"), fenced.reports().stream().map(KernelReport::toString).toList());
            return true;
        } catch (FenceRefusedException | PtxException | UnverifiedException e) {
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
