package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.proof.oracle.SyntacticOracle;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Modules to fence, and shorthand. */
final class Fences {
    static final Path FOLDER = Path.of("src/test/resources/fence");

    private Fences() {
    }

    /** Names of the modules of the test resources. */
    static List<String> names() {
        return List.of("global", "spaces", "flow", "copies", "variables", "strings", "mbarriers", "counts", "clusters");
    }

    static String read(String file) {
        try {
            return Files.readString(FOLDER.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The module fenced with what operands say by themselves, so that better proofs change nothing here. */
    static FencedModule plain(String ptx, FenceMode mode) throws PtxException, FenceRefusedException {
        return new Fencer(mode, new SyntacticOracle(), false).fence(PtxParser.parse(ptx));
    }

    /** A module whose kernel has these statements. */
    static String kernel(String statements) {
        return ".version 9.0\n.target sm_90a\n.address_size 64\n.global .u32 word;\n"
                + ".visible .entry k(.param .u64 p, .param .align 64 .b8 map[128])\n{\n"
                + "\t.reg .pred %p<4>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<20>;\n\t.reg .f32 %f<20>;\n\t.reg .b64 %d<9>;\n"
                + statements + "\n}\n";
    }
}
