package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxVersion;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Text of PTX ISA 2, which NVIDIA's assembler still takes. */
class OldTextTest {
    private static String text() throws IOException {
        return Files.readString(Path.of("src/test/resources/old/isa21.ptx"));
    }

    @ParameterizedTest
    @EnumSource
    void isFencedInAVersionThatFencesCanBeWrittenInAndVerified(FenceMode mode) throws Exception {
        FencedModule fenced = Fencer.withoutProofs(mode, false).fence(PtxParser.parse(text()));
        assertEquals(new PtxVersion(4, 1), fenced.module().version());
        Verdict verdict = FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(mode.name()), false);
        assertEquals(Map.of(), verdict.rejected());
        assertEquals(1, verdict.accepted().size());
    }

    @Test
    void addressesAndNamesInInitializersAreAsThatVersionHasThem() throws Exception {
        assertEquals(64, PtxParser.parse(text()).addressBits());
        assertTrue(pointer(PtxParser.parse(text())).generic());
        PtxModule later = PtxParser.parse(text().replace(".version 2.1", ".version 3.1"));
        assertEquals(32, later.addressBits(), "the default since there is .address_size");
        assertTrue(!pointer(later).generic());
    }

    private static Initializer.AddressOf pointer(PtxModule module) {
        return (Initializer.AddressOf) module.variables().stream().filter(variable -> variable.name().equals("where")).findFirst()
                .orElseThrow().initializer().orElseThrow();
    }

    @Test
    void olderTextIsRefused() throws PtxException {
        PtxModule module = PtxParser.parse(".version 1.4\n.target sm_20\n.entry k { exit; }\n");
        FenceRefusedException refused = assertThrows(FenceRefusedException.class, () -> new Fencer(FenceMode.MASK).fence(module));
        assertTrue(refused.getMessage().contains("PTX ISA 2.0"), refused.getMessage());
    }
}
