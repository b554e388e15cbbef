package io.tessera.fuzz.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Texts go to the assembler in bundles, and a complaint is about the text that has the fault. A script stands in for the assembler. */
class BatchAssemblerTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";

    private static BatchAssembler.Text text(long seed, String body) {
        return new BatchAssembler.Text(new GeneratedKernel(seed, false, false, 1, 8, "", "", List.of()), "MASK", HEAD + body);
    }

    private static Path standIn(Path folder, String refuses) throws Exception {
        Path script = Files.writeString(folder.resolve("assembler"), "#!/bin/sh\nfor last; do :; done\necho run >>" + folder.resolve("runs") + "\n"
                + "if " + refuses + " \"$last\"; then echo 'it is bad'; exit 255; fi\nexit 0\n");
        assertTrue(script.toFile().setExecutable(true));
        return script;
    }

    private static List<BatchAssembler.Complaint> all(BatchAssembler assembler, int count, long bad) throws Exception {
        List<BatchAssembler.Complaint> found = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            found.addAll(assembler.take(text(i, i == bad ? "// bad\n" : "// good\n")));
        }
        found.addAll(assembler.rest());
        return found;
    }

    @Test
    void manyTextsAreFewRuns(@TempDir Path folder) throws Exception {
        BatchAssembler assembler = new BatchAssembler(standIn(folder, "grep -q bad"));
        assertEquals(List.of(), all(assembler, 40, -1));
        assertEquals(40, assembler.assembled());
        assertEquals(4, Files.readAllLines(folder.resolve("runs")).size(), "of 16 and 4 texts for each of two architectures");
    }

    @Test
    void aComplaintIsAboutTheTextThatHasTheFault(@TempDir Path folder) throws Exception {
        BatchAssembler assembler = new BatchAssembler(standIn(folder, "grep -q bad"));
        List<BatchAssembler.Complaint> found = all(assembler, 40, 17);
        assertEquals(1, found.size(), found::toString);
        assertEquals(17, found.getFirst().text().kernel().seed());
        assertTrue(found.getFirst().what().contains("it is bad"), found::toString);
        assertEquals(40, assembler.assembled());
    }

    @Test
    void namesOfABundleAreApart() throws Exception {
        String module = HEAD
                + ".const .b32 constants[1];\n.func f0()\n{\n\tret;\n}\n.visible .entry k(\n\t.param .u64 $v0)\n{\n\t.reg .b64 \t%__tessera_d<2>;\n"
                + "\tmov.u64 \t%__tessera_d1, constants;\n\tcall f0;\n__tessera_site_0:\n\tret;\n}\n";
        String bundle = Bundle.of(List.of(module, module));
        assertEquals(List.of("f0_0", "k_0", "f0_1", "k_1"), PtxParser.parse(bundle).functions().stream().map(PtxFunction::name).toList());
        assertTrue(bundle.contains("mov.u64 \t%__tessera_d1, constants_1;"), bundle);
    }
}
