package io.tessera.cli.fence;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.context.Installation;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.KernelReport.Proof;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;

/** Runs the command on files of a folder, with a fencer that only counts and an assembler that is a shell script. */
final class FenceRunFixture {
    static final Instant NOW = Instant.parse("2026-01-02T12:00:00Z");
    /** Two kernels and what refuses a module. */
    static final String PTX = """
            .version 9.0
            .target sm_75
            .address_size 64
            .visible .entry add(.param .u64 p)
            {
            .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [p];
            st.global.u64 [%rd1], %rd1;
            ret;
            }
            .visible .entry scale(.param .u64 p)
            {
            ret;
            }
            """;

    /** What came of a run. */
    record Run(int code, String out, String err) {
    }

    private final Path folder;
    private final Map<String, String> environment = new HashMap<>();

    FenceRunFixture(Path folder) {
        this.folder = folder;
        environment.put("TESSERA_STATE_DIR", folder.resolve("state").toString());
        environment.put("TESSERA_CACHE_DIR", folder.resolve("cache").toString());
        environment.put("CUDA_HOME", folder.resolve("no-toolkit").toString());
    }

    Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text, StandardCharsets.ISO_8859_1);
    }

    /** An assembler that writes what it reads and says two more registers and a spill where it reads a fence. */
    Path assembler() throws IOException {
        Path script = file("ptxas", """
                #!/bin/sh
                while [ $# -gt 0 ]; do
                    case $1 in -o) out=$2; shift ;; *.ptx) in=$1 ;; esac
                    shift
                done
                grep -q "reject me" "$in" && { echo "ptxas $in, line 3; error   : Unknown symbol"; exit 1; }
                cp "$in" "$out"
                registers=10 spills=0
                grep -q __tessera "$in" && registers=12 spills=8
                for kernel in add scale; do
                    echo "ptxas info    : Compiling entry function '$kernel' for 'sm_90'"
                    echo "ptxas info    : Function properties for helper"
                    echo "    512 bytes stack frame, 512 bytes spill stores, 512 bytes spill loads"
                    echo "ptxas info    : Function properties for $kernel"
                    echo "    16 bytes stack frame, $spills bytes spill stores, $spills bytes spill loads"
                    echo "ptxas info    : Used $registers registers, used 0 barriers"
                done
                """);
        return Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }

    /** Adds a variable and counts what there is, so that fenced and unfenced can be told apart. */
    static FencedModule count(FenceMode mode, PtxModule module) throws FenceRefusedException {
        if (module.functions().stream().anyMatch(f -> f.name().equals("evil"))) {
            throw new FenceRefusedException("bar.mystery", 7, "is not known");
        }
        List<KernelReport> reports = module.functions().stream().map(FenceRunFixture::report).toList();
        List<Directive> directives = new ArrayList<>(module.directives());
        try {
            directives.addFirst(PtxParser.parse(
                    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .const .b64 __tessera_window[8];\n"
                            .getBytes(StandardCharsets.US_ASCII))
                    .variables().getFirst());
        } catch (PtxException e) {
            throw new IllegalStateException(e);
        }
        Map<String, FenceRefusedException> refused = module.functions().stream().filter(f -> f.name().equals("bad"))
                .collect(Collectors.toMap(PtxFunction::name, f -> new FenceRefusedException("wgmma", 9, "is not fenced")));
        return new FencedModule(mode, new PtxModule(module.version(), module.targets(), module.addressBits(), directives),
                1, List.of(), List.of(), List.of("add", "scale"), List.of(), List.of(), refused, false, false, reports);
    }

    private static KernelReport report(PtxFunction function) {
        boolean stores = function.name().equals("add");
        return new KernelReport(function.name(), true, function.line(),
                stores ? Map.of("st.global", 1, "ld (generic)", 2) : Map.of(), stores ? Map.of(Fence.BASE, 1) : Map.of(),
                stores ? Map.of(Proof.FENCED_BASE, 1) : Map.of(), List.of(), List.of(), stores ? "a loop" : null, null);
    }

    Run run(String... arguments) {
        return run(false, arguments);
    }

    Run run(boolean terminal, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandContext context = new CommandContext(new PrintWriter(out), new PrintWriter(err), terminal, terminal, environment, 1,
                new Installation(folder, folder, folder, folder, "9.9"), _ -> {});
        CommandLine line = new CommandLine(new FenceCommand(context, () -> NOW, request -> (module, _) -> count(request.mode(), module)));
        line.setOut(context.out()).setErr(context.err());
        line.setParameterExceptionHandler((e, _) -> {
            context.err().println(e.getMessage());
            return ExitCode.USAGE.number();
        });
        int code = line.execute(arguments);
        context.out().flush();
        context.err().flush();
        return new Run(code, out.toString(), err.toString());
    }
}
