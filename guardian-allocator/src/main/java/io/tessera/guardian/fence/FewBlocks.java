package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Second entries for grids that do not fill the device. An assembler keeps to a number of registers with which many blocks run at once, and
 * gives up overlap of loads and arithmetic for it; where a fence takes a register, more of it. A grid of few blocks has nothing of that. So
 * a second entry is there twice, the other time with the promise that one block on a multiprocessor is enough. Stateless.
 */
public final class FewBlocks {
    /** Threads of a block, at most, of a kernel that names no size: with more, a thread cannot have all registers that one can (255 of 65,536). */
    public static final int MOST_THREADS = 256;
    private static final String PREFIX = WindowConstants.PREFIX + "few_";
    /** Programs with more kernels than this spend too long in the assembler as it is. */
    private static final int MOST_KERNELS = 32;
    /** What is shorter needs few registers either way: of the kernels of {@code tests/gpu/fences} none got other machine code. */
    private static final int LEAST_INSTRUCTIONS = 48;
    private static final List<String> DECIDED = List.of("minnctapersm", "maxnreg");

    private FewBlocks() {
    }

    /** What the entry of a kernel for few blocks is called; empty: it gets none. */
    static String name(PtxFunction kernel, PtxModule module) {
        long kernels = module.functions().stream().filter(each -> each.kind() == PtxFunction.Kind.ENTRY && each.body().isPresent()).count();
        boolean worth = kernels <= MOST_KERNELS && kernel.attributes().stream().noneMatch(attribute -> DECIDED.contains(attribute.name()))
                && isLong(kernel.body().orElseThrow());
        return worth ? PREFIX + kernel.name() : "";
    }

    private static boolean isLong(Block body) {
        return count(body, 0) >= LEAST_INSTRUCTIONS;
    }

    private static int count(Block block, int before) {
        int count = before;
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction) {
                count++;
            }
        }
        return count;
    }

    /** A second entry as it is written, for few blocks. */
    static PtxFunction of(PtxFunction entry, String name) {
        List<FunctionAttribute> attributes = new ArrayList<>(entry.attributes());
        if (entry.attribute("maxntid").isEmpty() && entry.attribute("reqntid").isEmpty()) {
            attributes.add(new FunctionAttribute("maxntid", List.of((long) MOST_THREADS), List.of()));
        }
        attributes.add(new FunctionAttribute("minnctapersm", List.of(1L), List.of()));
        return new PtxFunction(entry.kind(), entry.linkage(), name, entry.returns(), entry.parameters(), attributes, entry.body(), entry.line());
    }
}
