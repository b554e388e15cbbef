package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Label;
import io.tessera.guardian.ptx.Location;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.Pragma;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes a kernel with its body twice: one that small blocks run, in which thread numbers and block sizes are cut to what they are
 * there anyway, and the one that it had. Which of the two runs the block's size decides, so all threads of a block run the same.
 * The cuts are instructions, so proofs need not trust the choice. Stateless.
 */
final class TwoBodies {
    private TwoBodies() {
    }

    /** Whether a kernel is of the kind that can be written so: thread numbers are only moved to registers, and control goes by labels alone. */
    static boolean canWrite(PtxFunction kernel) {
        Set<String> labels = new HashSet<>();
        return plain(kernel.body().orElseThrow(), true, labels) && readsX(kernel);
    }

    private static boolean plain(Block block, boolean outermost, Set<String> labels) {
        for (Statement statement : block.statements()) {
            boolean fine = switch (statement) {
                case Instruction instruction -> plain(instruction);
                case Label label -> labels.add(label.name());
                case Block inner -> plain(inner, false, labels);
                case RegisterDeclaration _, Location _, Pragma _ -> true;
                case Variable variable -> outermost || variable.space() == StateSpace.PARAM;
                default -> false;
            };
            if (!fine) {
                return false;
            }
        }
        return true;
    }

    private static boolean plain(Instruction instruction) {
        if (instruction.opcode().equals("brx")) {
            return false;
        }
        boolean special = instruction.operands().stream().anyMatch(TwoBodies::isThread);
        return !special || isRead(instruction);
    }

    private static boolean isThread(Operand operand) {
        return operand instanceof Operand.SpecialRegister(String name, String _) && (name.equals("%tid") || name.equals("%ntid"));
    }

    /** {@code mov.u32 %r1, %tid.x}, x or y. */
    private static boolean isRead(Instruction instruction) {
        return instruction.opcode().equals("mov") && instruction.guard().isEmpty() && instruction.operands().size() == 2
                && instruction.type().filter(type -> type.bits() == Integer.SIZE).isPresent()
                && instruction.operands().getFirst() instanceof Operand.Register
                && instruction.operands().get(1) instanceof Operand.SpecialRegister(String _, String component)
                && (component.equals("x") || component.equals("y"));
    }

    /** Whether the kernel looks at threads' numbers in x. */
    static boolean readsX(PtxFunction kernel) {
        return reads(kernel.body().orElseThrow(), "x");
    }

    /** The same for y. */
    static boolean readsY(PtxFunction kernel) {
        return reads(kernel.body().orElseThrow(), "y");
    }

    private static boolean reads(Block block, String component) {
        return block.statements().stream().anyMatch(statement -> switch (statement) {
            case Instruction instruction -> instruction.operands().stream().anyMatch(operand -> isThread(operand)
                    && ((Operand.SpecialRegister) operand).component().equals(component));
            case Block inner -> reads(inner, component);
            default -> false;
        });
    }

    /** The kernel with two bodies; empty if no names are left for what is added. */
    static Optional<PtxFunction> write(PtxFunction kernel, SmallBlocks.BlockSize size) {
        Block body = kernel.body().orElseThrow();
        Set<String> taken = new HashSet<>();
        names(body, taken);
        String prefix = "small";
        for (int i = 0; !isFree(prefix, taken); i++) {
            prefix = "small" + i;
        }
        List<Statement> whole = new ArrayList<>();
        body.statements().stream().filter(TwoBodies::isDeclaration).forEach(whole::add);
        Operand.Register threads = new Operand.Register("%" + prefix + "_n");
        Operand.Register larger = new Operand.Register("%" + prefix + "_p");
        Operand.Symbol any = new Operand.Symbol("$" + prefix + "_any", 0);
        declare(whole, ScalarType.B32, threads);
        declare(whole, ScalarType.PRED, larger);
        choose(whole, "x", size.x(), threads, larger, any);
        if (size.y() > 0) {
            choose(whole, "y", size.y(), threads, larger, any);
        }
        Map<String, String> labels = new HashMap<>();
        labels(body, "$" + prefix + "_", labels);
        whole.addAll(copy(body, size, labels).statements().stream().filter(statement -> !isDeclaration(statement)).toList());
        whole.add(new Instruction(Optional.empty(), "ret", List.of(), List.of(), 0));
        whole.add(new Label(any.name(), 0));
        body.statements().stream().filter(statement -> !isDeclaration(statement)).forEach(whole::add);
        return Optional.of(new PtxFunction(kernel.kind(), kernel.linkage(), kernel.name(), kernel.returns(), kernel.parameters(),
                kernel.attributes(), Optional.of(new Block(whole, body.line())), kernel.line()));
    }

    private static void declare(List<Statement> into, ScalarType type, Operand.Register register) {
        into.add(new RegisterDeclaration(type, 1,
                List.of(new RegisterDeclaration.Names(register.name(), RegisterDeclaration.Names.SINGLE)), 0));
    }

    private static void choose(List<Statement> into, String dimension, int most, Operand.Register threads, Operand.Register larger,
            Operand.Symbol any) {
        into.add(new Instruction(Optional.empty(), "mov", List.of("u32"),
                List.of(threads, new Operand.SpecialRegister("%ntid", dimension)), 0));
        into.add(new Instruction(Optional.empty(), "setp", List.of("gt", "u32"), List.of(larger, threads, Code.number(most)), 0));
        into.add(new Instruction(Optional.of(new Guard(larger, false)), "bra", List.of(), List.of(any), 0));
    }

    private static boolean isDeclaration(Statement statement) {
        return statement instanceof RegisterDeclaration || statement instanceof Variable;
    }

    private static boolean isFree(String prefix, Set<String> taken) {
        return taken.stream().noneMatch(name -> name.startsWith("$" + prefix + "_") || name.startsWith("%" + prefix + "_"));
    }

    private static void names(Block block, Set<String> into) {
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Label label -> into.add(label.name());
                case RegisterDeclaration declaration -> declaration.names().forEach(names -> into.add(names.name()));
                case Block inner -> names(inner, into);
                default -> { }
            }
        }
    }

    private static void labels(Block block, String prefix, Map<String, String> into) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Label label) {
                into.put(label.name(), prefix + label.name().replace('%', '_'));
            } else if (statement instanceof Block inner) {
                labels(inner, prefix, into);
            }
        }
    }

    private static Block copy(Block block, SmallBlocks.BlockSize size, Map<String, String> labels) {
        List<Statement> copied = new ArrayList<>(block.statements().size());
        for (Statement statement : block.statements()) {
            switch (statement) {
                case Label label -> copied.add(new Label(labels.get(label.name()), label.line()));
                case Block inner -> copied.add(copy(inner, size, labels));
                case Instruction instruction -> {
                    copied.add(copy(instruction, labels));
                    if (instruction.operands().stream().anyMatch(TwoBodies::isThread)) {
                        copied.add(cut(instruction, size));
                    }
                }
                default -> copied.add(statement);
            }
        }
        return new Block(copied, block.line());
    }

    private static Instruction copy(Instruction instruction, Map<String, String> labels) {
        List<Operand> operands = instruction.opcode().equals("bra")
                ? instruction.operands().stream().map(operand -> renamed(operand, labels)).toList() : instruction.operands();
        return new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands, instruction.line());
    }

    private static Operand renamed(Operand operand, Map<String, String> labels) {
        return operand instanceof Operand.Symbol(String name, long offset) && labels.containsKey(name)
                ? new Operand.Symbol(labels.get(name), offset) : operand;
    }

    /** What was read is at most this in blocks of the size. */
    private static Instruction cut(Instruction read, SmallBlocks.BlockSize size) {
        Operand.SpecialRegister from = (Operand.SpecialRegister) read.operands().get(1);
        int most = (from.component().equals("x") ? size.x() : size.y()) - (from.name().equals("%tid") ? 1 : 0);
        Operand register = read.operands().getFirst();
        return new Instruction(Optional.empty(), "min", List.of("u32"), List.of(register, register, Code.number(most)), read.line());
    }
}
