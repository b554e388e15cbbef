package io.tessera.guardian.fence;

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
 * Has the blocks of large grids look at the stop word when they begin: a GPU begins all blocks of a grid, however many they are, and each may do much
 * before it looks by itself. In smaller grids three comparisons of the grid's extents are all that it costs. Stateless.
 */
final class GridLook {
    /** Blocks times the instructions that each may make before it looks, without its threads; the verifier has twice as many. */
    private static final long MOST = 1L << 35;
    /** What a kernel with loops or calls may make before it looks: the verifier's number for any function. */
    private static final long MOST_BETWEEN_LOOKS = 1L << 23;
    /** Grids are seldom longer than this in y and z; what is left is for x. */
    private static final int LONG_SHIFT_Y = 6;
    private static final int LONG_SHIFT_Z = 2;
    private static final int SHORT_SHIFT_Y = 2;
    private static final int SHORT_SHIFT_Z = 1;
    /** No grid needs more in x before it looks. */
    private static final int MOST_SHIFT = 22;
    private static final String PREDICATE = WindowConstants.PREFIX.replace("__", "%__") + "grid_p";
    private static final String WORD = WindowConstants.PREFIX.replace("__", "%__") + "grid_r";
    private static final String PLACE = WindowConstants.PREFIX.replace("__", "%__") + "grid_d";

    private GridLook() {
    }

    /** The kernel with a look where it begins; any other function, and what is launched for small grids alone, as it is. */
    static PtxFunction looking(PtxFunction function) {
        if (function.kind() != PtxFunction.Kind.ENTRY || function.body().isEmpty() || CheckedEntries.isOne(function.name())) {
            return function;
        }
        Block body = function.body().get();
        List<Statement> statements = new ArrayList<>();
        statements.add(new RegisterDeclaration(ScalarType.PRED, PREDICATE, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B32, WORD, 1, function.line()));
        statements.add(new RegisterDeclaration(ScalarType.B64, PLACE, 1, function.line()));
        boolean begun = false;
        for (Statement statement : body.statements()) {
            if (!begun && !(statement instanceof RegisterDeclaration) && !(statement instanceof Variable)) {
                begun = true;
                look(statements, shift(body), function.line());
            }
            statements.add(statement);
        }
        return new PtxFunction(function.kind(), function.linkage(), function.name(), function.returns(), function.parameters(), function.attributes(),
                Optional.of(new Block(statements, body.line())), function.line());
    }

    /** Two to this power are the blocks of a grid that need not look. */
    private static int shift(Block body) {
        LoopText text = new LoopText(body);
        List<Instruction> code = text.instructions();
        boolean straight = true;
        for (int at = 0; at < code.size(); at++) {
            straight &= text.depth(at) == 0 && !code.get(at).opcode().equals("call");
        }
        long most = straight ? Math.max(1, code.size()) : MOST_BETWEEN_LOOKS;
        return Math.min(MOST_SHIFT, Long.SIZE - 1 - Long.numberOfLeadingZeros(MOST / most));
    }

    private static void look(List<Statement> statements, int shift, int line) {
        boolean many = shift == MOST_SHIFT;
        int y = many ? LONG_SHIFT_Y : SHORT_SHIFT_Y;
        int z = many ? LONG_SHIFT_Z : SHORT_SHIFT_Z;
        Operand.Register beyond = new Operand.Register(PREDICATE + "0");
        Operand.Register word = new Operand.Register(WORD + "0");
        Operand.Register place = new Operand.Register(PLACE + "0");
        Optional<Guard> large = Optional.of(new Guard(beyond, false));
        Optional<Guard> all = Optional.empty();
        add(statements, all, "mov", List.of("u32"), List.of(word, new Operand.SpecialRegister("%nctaid", "x")), line);
        add(statements, all, "setp", List.of("gt", "u32"), List.of(beyond, word, Code.number(1L << shift - y - z)), line);
        add(statements, all, "mov", List.of("u32"), List.of(word, new Operand.SpecialRegister("%nctaid", "y")), line);
        add(statements, all, "setp", List.of("gt", "or", "u32"), List.of(beyond, word, Code.number(1L << y), beyond), line);
        add(statements, all, "mov", List.of("u32"), List.of(word, new Operand.SpecialRegister("%nctaid", "z")), line);
        add(statements, all, "setp", List.of("gt", "or", "u32"), List.of(beyond, word, Code.number(1L << z), beyond), line);
        add(statements, all, "ld", List.of("const", "u64"), List.of(place, Code.at(new Operand.Named(WindowConstants.NAME), WindowConstants.STOP_WORD)), line);
        add(statements, large, "ld", List.of("volatile", "global", "u32"), List.of(word, Code.at(place, 0)), line);
        add(statements, large, "setp", List.of("lt", "s32"), List.of(beyond, word, Code.number(1)), line);
        add(statements, large, "exit", List.of(), List.of(), line);
    }

    private static void add(List<Statement> statements, Optional<Guard> guard, String opcode, List<String> modifiers, List<Operand> operands, int line) {
        statements.add(new Instruction(guard, opcode, modifiers, operands, line));
    }
}
