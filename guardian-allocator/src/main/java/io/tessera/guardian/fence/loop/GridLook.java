package io.tessera.guardian.fence.loop;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.Code;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes the blocks of large grids look at the stop word when they begin. A GPU starts all blocks of a grid, however many there are, and each block
 * may do much work before its first look. In smaller grids, the cost is one comparison of the number of blocks. The look itself costs much if most of
 * a block's work is its start, since all blocks read one word (4.6 times as long for a step of a bitonic sort in 65,536 blocks on an H100).
 * Stateless.
 */
public final class GridLook {
    /** Blocks times the instructions that each may make before it looks, without its threads; the verifier has four times as many. */
    private static final long MOST = 1L << 36;
    /**
     * As above, for the cost of accesses, of which the verifier allows twice as many by its own count: 1024 threads make this many accesses to device
     * memory in a second.
     */
    private static final long MOST_SLOW = AccessCost.ACCESS << 26;
    /** Instructions of a look, and some that begin every kernel. */
    private static final int LENGTH = 16;
    private static final String PREDICATE = WindowConstants.PREFIX.replace("__", "%__") + "grid_p";
    private static final String WORD = WindowConstants.PREFIX.replace("__", "%__") + "grid_r";
    private static final String WIDE = WindowConstants.PREFIX.replace("__", "%__") + "grid_d";

    private GridLook() {
    }

    /**
     * Returns a kernel with a look at its beginning; any other function is unchanged.
     *
     * @param most maximum number of instructions before its first look
     * @param slow additional cost of its accesses
     */
    public static PtxFunction looking(PtxFunction function, long most, long slow) {
        if (function.kind() != PtxFunction.Kind.ENTRY || function.body().isEmpty()) {
            return function;
        }
        Block body = function.body().get();
        List<Statement> statements = new ArrayList<>();
        statements.add(new RegisterDeclaration(ScalarType.PRED, PREDICATE, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B32, WORD, 2, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B64, WIDE, 1, function.line()));
        boolean begun = false;
        for (Statement statement : body.statements()) {
            if (!begun && !(statement instanceof RegisterDeclaration) && !(statement instanceof Variable)) {
                begun = true;
                look(statements, Math.min(MOST / (most + LENGTH), MOST_SLOW / Math.max(1, slow)), function.line());
            }
            statements.add(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, body.line())), function.line());
    }

    private static void look(List<Statement> statements, long blocks, int line) {
        Operand.Register beyond = new Operand.Register(PREDICATE + "0");
        Operand.Register word = new Operand.Register(WORD + "0");
        Operand.Register other = new Operand.Register(WORD + "1");
        Operand.Register wide = new Operand.Register(WIDE + "0");
        Optional<Guard> large = Optional.of(new Guard(beyond, false));
        Optional<Guard> all = Optional.empty();
        add(statements, all, "mov", List.of("u32"), List.of(word, new Operand.SpecialRegister("%nctaid", "y")), line);
        add(statements, all, "mov", List.of("u32"), List.of(other, new Operand.SpecialRegister("%nctaid", "z")), line);
        add(statements, all, "mul", List.of("lo", "u32"), List.of(word, word, other), line);
        add(statements, all, "mov", List.of("u32"), List.of(other, new Operand.SpecialRegister("%nctaid", "x")), line);
        add(statements, all, "mul", List.of("wide", "u32"), List.of(wide, word, other), line);
        add(statements, all, "setp", List.of("gt", "u64"), List.of(beyond, wide, Code.number(blocks)), line);
        add(statements, all, "ld", List.of("const", "u64"),
                List.of(wide, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD)), line);
        add(statements, large, "ld", List.of("volatile", "global", "u32"), List.of(word, Code.at(wide, 0)), line);
        add(statements, large, "setp", List.of("lt", "s32"), List.of(beyond, word, Code.number(1)), line);
        add(statements, large, "exit", List.of(), List.of(), line);
    }

    private static void add(List<Statement> statements, Optional<Guard> guard, String opcode, List<String> modifiers, List<Operand> operands,
            int line) {
        statements.add(new Instruction(guard, opcode, modifiers, operands, line));
    }
}
