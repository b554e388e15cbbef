package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.NvccCubins;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** NVIDIA's disassembler sees branches to the same instructions as before, and accesses in the form that the fence has. */
@Tag("nvcc")
@Timeout(240)
class DisassemblyTest {
    private static final Pattern INSTRUCTION = Pattern.compile("\\s*/\\*([0-9a-f]+)\\*/\\s+(?:(@!?U?P\\S+)\\s+)?([A-Z][A-Z0-9_.]*)(.*?);.*");
    private static final Pattern LABEL = Pattern.compile("(\\S+):");
    private static final Pattern TARGET = Pattern.compile("`\\((\\S+)\\)");
    private static final Pattern ACCESS = Pattern.compile("(LDG|STG|LD|ST|REDG|RED|ATOMG|ATOM|LDGSTS)(\\..*)?");
    private static final Pattern ADDRESS = Pattern.compile("\\[R(\\d+)(?:\\.64)?(?:\\+-?0x[0-9a-f]+)?\\]");
    @TempDir
    static Path folder;
    private static Path disassembler;

    /** A line. Targets are resolved once all labels are known. */
    private record Line(String guard, String name, String operands) {
        /** Returns whether it can never be part of a fence. */
        boolean isAnchor() {
            return !name.startsWith("LOP3") && !name.startsWith("MOV") && !name.startsWith("UMOV") && !name.equals("NOP");
        }
    }

    private static final class Listing {
        final List<Line> lines = new ArrayList<>();
        final Map<String, Integer> labels = new HashMap<>();

        /** For each branch in turn its name and how many instructions that are no fence come before its target. */
        List<String> branches() {
            List<String> branches = new ArrayList<>();
            for (Line line : lines) {
                Matcher target = TARGET.matcher(line.operands);
                if (target.find() && labels.containsKey(target.group(1)) && !line.name.startsWith("RET") && !line.name.startsWith("BRX")) {
                    int place = labels.get(target.group(1));
                    branches.add(line.guard + " " + line.name + " to " + lines.subList(0, place).stream().filter(Line::isAnchor).count());
                }
            }
            return branches;
        }
    }

    @BeforeAll
    static void findTools() {
        NvccCubins.require();
        disassembler = NvccCubins.requireDisassembler();
    }

    static Stream<Arguments> architecturesAndWindows() {
        return Stream.of("sm_80", "sm_86", "sm_89", "sm_90").flatMap(name -> MachineFences.windows().map(fence -> Arguments.of(name, fence)));
    }

    @ParameterizedTest
    @MethodSource("architecturesAndWindows")
    void branchesGoWhereTheyWentAndAccessesHaveTheirFence(String architecture, MachineFence fence) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, "machine/forms", architecture);
        FencedCubin fenced = CubinFencer.fence(cubin, fence);
        Map<String, Listing> before = disassemble(cubin);
        Map<String, Listing> after = disassemble(fenced.bytes());
        int branches = 0;
        int accesses = 0;
        for (FunctionReport function : fenced.functions()) {
            List<String> expected = before.get(function.name()).branches();
            assertEquals(expected, after.get(function.name()).branches(), function.name());
            branches += expected.size();
            accesses += function.isFenced() ? accesses(function.name(), after.get(function.name()), fence, architecture.equals("sm_90")) : 0;
        }
        assertTrue(branches > 50 && accesses > 70, branches + " branches, " + accesses + " accesses");
    }

    private static int accesses(String function, Listing listing, MachineFence fence, boolean addsBase) {
        int count = 0;
        for (int i = 0; i < listing.lines.size(); i++) {
            Line line = listing.lines.get(i);
            if (!ACCESS.matcher(line.name).matches()) {
                continue;
            }
            count++;
            boolean byBase = line.operands.matches(".*\\[R\\d+\\.U32\\+UR58(\\+-?0x[0-9a-f]+)?\\].*");
            List<String> registers = ADDRESS.matcher(line.operands).results().map(found -> found.group(1)).toList();
            boolean byRegister = !registers.isEmpty()
                    && hasFence(listing.lines.subList(0, i), Integer.parseInt(registers.getLast()) + 1, fence); // LDGSTS has one of shared memory before
            boolean withoutUniform = line.name.contains("CAS") || !line.operands.contains("UR");
            assertTrue(addsBase && fence.mask() == 0 && !withoutUniform ? byBase : byRegister, () -> function + ": " + line);
        }
        return count;
    }

    private static boolean hasFence(List<Line> lines, int register, MachineFence fence) {
        String name = "R" + register + ",";
        String mask = "0x" + Integer.toHexString(fence.mask());
        String base = "0x" + Integer.toHexString(fence.baseHigh());
        String both = "0x" + Integer.toHexString(fence.baseHigh() | fence.mask());
        return lines.stream().map(line -> line.name + line.operands.replace(".reuse", "")).anyMatch(text -> fence.mask() == 0
                ? text.startsWith("MOV " + name) && text.contains(base)
                : text.startsWith("LOP3.LUT " + name + " R" + register + ", ") && (text.contains(mask + ", R") || text.contains(both + ", RZ")));
    }

    private static Map<String, Listing> disassemble(byte[] cubin) throws Exception {
        Path file = Files.write(Files.createTempFile(folder, "module", ".cubin"), cubin);
        Map<String, Listing> listings = new HashMap<>();
        Listing listing = null;
        for (String text : NvccCubins.run(folder, List.of(disassembler.toString(), "-c", file.toString())).lines().toList()) {
            Matcher label = LABEL.matcher(text);
            Matcher instruction = INSTRUCTION.matcher(text);
            if (text.startsWith(".text.")) {
                listing = new Listing();
                listings.put(text.substring(6, text.length() - 1), listing);
            } else if (listing != null && label.matches()) {
                listing.labels.put(label.group(1), listing.lines.size());
            } else if (listing != null && instruction.matches()) {
                listing.lines.add(new Line(instruction.group(2) == null ? "" : instruction.group(2), instruction.group(3), instruction.group(4)));
            }
        }
        return listings;
    }
}
