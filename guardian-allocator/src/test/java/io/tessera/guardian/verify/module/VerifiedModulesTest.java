package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The rewriter's text of the modules that compilers made, and of the instruction classes, is accepted: all of it without proofs. */
class VerifiedModulesTest {
    private static final Path RESOURCES = Path.of("src/test/resources");
    /** Has nothing but what is refused beside others. */
    private static final String REFUSED = "hopper.90a.ptx";
    private static final int MIXTURES = 4;
    /** Kernels that are accepted as they are fenced with proofs, of all; see the README. */
    private static final Map<FenceMode, Integer> WITH_PROOFS = Map.of(FenceMode.NONE, 88, FenceMode.MASK, 84, FenceMode.MODULO, 84, FenceMode.CHECK,
            84);

    static Stream<Path> modules() throws IOException {
        List<Path> found = new ArrayList<>();
        for (String folder : List.of("ptx", "fence")) {
            try (var files = Files.list(RESOURCES.resolve(folder))) {
                files.filter(file -> file.toString().endsWith(".ptx") && !file.getFileName().toString().matches(".*\\.(mask|modulo|check|none)\\.ptx")
                        && !file.endsWith(REFUSED))
                        .sorted().forEach(found::add);
            }
        }
        return found.stream();
    }

    private static Verdict verdict(FencedModule fenced) throws UnverifiedException {
        return FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(fenced.mode().name()), false);
    }

    @ParameterizedTest
    @MethodSource("modules")
    void withoutProofsAllIsAccepted(Path file) throws Exception {
        for (FenceMode mode : FenceMode.values()) {
            FencedModule fenced = Fencer.withoutProofs(mode, false).fence(PtxParser.parse(Files.readAllBytes(file)));
            Verdict verdict = verdict(fenced);
            assertEquals(Map.of(), verdict.rejected(), mode.toString());
            assertEquals(kernels(fenced), verdict.accepted().size(), mode.toString());
            assertTrue(!fenced.clusters() || verdict.clusters().containsAll(verdict.accepted()), "launched in clusters, " + mode);
        }
    }

    @ParameterizedTest
    @EnumSource
    void withProofsMostIsAccepted(FenceMode mode) throws Exception {
        int accepted = 0;
        for (Path file : modules().toList()) {
            accepted += verdict(new Fencer(mode).fence(PtxParser.parse(Files.readAllBytes(file)))).accepted().size();
        }
        assertEquals(WITH_PROOFS.get(mode), accepted);
    }

    /**
     * As in an executor: only functions that are not shown are fenced without proofs, so no kernel of a module loses its proofs because of another.
     */
    @ParameterizedTest
    @EnumSource
    void whatIsNotShownIsFencedWithoutProofsAlone(FenceMode mode) throws Exception {
        int proven = 0;
        for (Path file : modules().toList()) {
            PtxModule module = PtxParser.parse(Files.readAllBytes(file));
            PlainFunctions plain = PlainFunctions.none();
            Verdict verdict = verdict(new Fencer(mode).fence(module));
            while (!verdict.whole()) {
                assertFalse(plain.all(), file + ", " + mode + ": " + verdict.rejected());
                plain = plain.with(verdict.unproven());
                verdict = verdict(new Fencer(mode).plainly(plain).fence(module));
            }
            proven += (int) verdict.accepted().stream().filter(Predicate.not(plain::contains)).count();
        }
        assertEquals(WITH_PROOFS.get(mode), proven);
    }

    /** Functions of both forms call each other, whichever have which. */
    @ParameterizedTest
    @MethodSource("modules")
    void anyFunctionsMayBeWithoutProofs(Path file) throws Exception {
        PtxModule module = PtxParser.parse(Files.readAllBytes(file));
        Random random = new Random(file.getFileName().hashCode());
        for (FenceMode mode : FenceMode.values()) {
            Verdict proven = verdict(new Fencer(mode).fence(module));
            for (int i = 0; i < MIXTURES; i++) {
                Set<String> names = module.functions().stream().map(PtxFunction::name).filter(_ -> random.nextBoolean()).collect(Collectors.toSet());
                PlainFunctions plain = PlainFunctions.none().with(names);
                FencedModule fenced = new Fencer(mode).plainly(plain).fence(module);
                Verdict verdict = verdict(fenced);
                assertEquals(kernels(fenced), verdict.accepted().size() + verdict.rejected().size());
                assertTrue(verdict.accepted().containsAll(proven.accepted()), () -> mode + ", without proofs " + names + ": " + verdict.rejected());
            }
        }
    }

    private static long kernels(FencedModule fenced) {
        return fenced.module().functions().stream().filter(f -> f.kind() == PtxFunction.Kind.ENTRY && f.body().isPresent()).count();
    }
}
