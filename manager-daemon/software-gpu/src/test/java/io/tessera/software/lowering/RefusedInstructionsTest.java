package io.tessera.software.lowering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.Opcodes;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.execution.ThreadProgram;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.UnsupportedPtxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The README's list of refused instructions is true: each of its forms is refused, and no opcode without any form is missing. */
@Timeout(180)
class RefusedInstructionsTest {
    private static final String BEGIN = "```refused\n";
    /** Words without which an opcode is no instruction. */
    private static final Map<String, List<String>> WORDS = Map.of("bar", List.of("sync"), "barrier", List.of("sync"), "cp",
            List.of("async"), "mbarrier", List.of("init"), "match", List.of("sync"), "redux", List.of("sync"), "elect",
            List.of("sync"));

    private static List<String> listed() throws IOException {
        String text = Files.readString(Path.of(System.getProperty("basedir", "."), "README.md"));
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        return text.substring(begin, text.indexOf("```", begin)).lines().toList();
    }

    private static String kernel(String instruction) {
        return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .f32 %f<20>; "
                + ".reg .pred %p<3>;\n" + instruction + "\nret;\n}\n";
    }

    /** By the compiler too, which leaves rare instructions to the interpreter and would otherwise find out when they run. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyFormOfTheListIsRefused(boolean compiled) throws Exception {
        List<String> listed = listed();
        Interpreter interpreter = new Interpreter();
        assertTrue(listed.size() > 10, listed.toString());
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(1 << 20, 1, DeviceLimits.of(2),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()))) {
            for (String instruction : listed) {
                LoadedModule module = processor.load(kernel(instruction));
                UnsupportedPtxException refusal = assertThrows(UnsupportedPtxException.class, () -> module.kernel("k"), instruction);
                String mnemonic = instruction.substring(0, instruction.indexOf(instruction.contains(" ") ? ' ' : ';'));
                assertTrue(refusal.getMessage().contains(mnemonic), refusal.getMessage());
            }
        }
    }

    /** A reference has no register, so the instruction looks otherwise to the compiler. */
    @Test
    void whatNamesAReferenceIsRefusedToo() throws Exception {
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(1 << 20, 1, DeviceLimits.of(2),
                new KernelCompiler(new Interpreter(), () -> 0), DeviceClock.system()))) {
            for (String instruction : List.of("tld4.r.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [t, {%f0, %f1}];",
                    "sured.b.add.1d.u32.trap [s, {%r0}], %r1;", "sured.p.min.2d.s32.clamp [s, {%r0, %r1}], %r2;")) {
                LoadedModule module = processor.load(kernel(instruction).replace(".visible .entry",
                        ".global .texref t;\n.global .surfref s;\n.visible .entry"));
                assertThrows(UnsupportedPtxException.class, () -> module.kernel("k"), instruction);
            }
        }
    }

    /** A failure while a kernel is made, whatever it is, is this kernel's alone. */
    @Test
    void failuresWhileAKernelIsMadeAreRefusals() throws Exception {
        for (Throwable failure : List.of(new IllegalStateException(), new StackOverflowError(), new VerifyError())) {
            KernelTranslator translator = (kernel, symbols) -> sneak(failure);
            try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(1 << 20, 1, DeviceLimits.of(2), translator,
                    DeviceClock.system()))) {
                LoadedModule module = processor.load(kernel(""));
                assertEquals(failure, assertThrows(UnsupportedPtxException.class, () -> module.kernel("k")).getCause());
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> ThreadProgram sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void noOpcodeIsMissing() throws IOException {
        Set<String> refused = Opcodes.names().stream().filter(name -> OpcodeTable.of(name, WORDS.getOrDefault(name, List.of())) == null)
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> named = listed().stream().map(form -> form.split("[.; ]")[0]).collect(Collectors.toSet());
        refused.removeAll(named);
        assertEquals(Set.of(), refused);
    }
}
