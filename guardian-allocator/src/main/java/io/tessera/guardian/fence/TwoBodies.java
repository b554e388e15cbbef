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
 * Writes a kernel with its body twice: one for launches within limits, in which registers hold what was found to be within them, and thread
 * numbers are cut to what they are there anyway; and the one that it had. What is compared is the same for all threads, so all of
 * them run the same body. The comparisons and cuts are instructions, so proofs need not trust the choice. Stateless.
 */
final class TwoBodies {
    /** Limits that one branch decides on: proofs look through so many comparisons. */
    private static final int AT_ONCE = 4;
    /** The number of the block in x, which is bounded where second entries bound the grid: it cannot be compared in a body. */
    static final Operand.SpecialRegister BLOCK = new Operand.SpecialRegister("%ctaid", "x");

    private static final String PREFIX = "small";
    private static final String ANY = "_any";

    private TwoBodies() {
    }

    /** Whether a kernel is of the kind that can be written so: control goes by labels alone. */
    static boolean canWrite(PtxFunction kernel) {
        return plain(kernel.body().orElseThrow(), true, new HashSet<>());
    }

    /** Whether a label looks like the one at which the body that a kernel had starts; a kernel's own may, too. */
    static boolean isPlainBody(String label) {
        return label.startsWith("$" + PREFIX) && label.endsWith(ANY);
    }

    /** Whether limits of a block's size can be used: thread numbers are only moved to registers. */
    static boolean canLimitThreads(PtxFunction kernel) {
        return readsX(kernel) && movesThreads(kernel.body().orElseThrow());
    }

    private static boolean movesThreads(Block block) {
        for (Statement statement : block.statements()) {
            boolean moves = switch (statement) {
                case Instruction instruction -> !namesThread(instruction, null) || isRead(instruction);
                default -> true;
            };
            if (!moves) {
                return false;
            }
        }
        return true;
    }

    private static boolean plain(Block block, boolean outermost, Set<String> labels) {
        for (Statement statement : block.statements()) {
            boolean fine = switch (statement) {
                case Instruction instruction -> !instruction.opcode().equals("brx");
                case Label label -> labels.add(label.name());
                case RegisterDeclaration _,Location _,Pragma _ -> true;
                case Variable variable -> outermost || variable.space() == StateSpace.PARAM;
                default -> false;
            };
            if (!fine) {
                return false;
            }
        }
        return true;
    }

    /** Whether an instruction names a thread's number or the size of its block, in a dimension or, with null, in any. */
    private static boolean namesThread(Instruction instruction, String component) {
        List<Operand> operands = instruction.operands();
        for (int i = 0; i < operands.size(); i++) {
            if (operands.get(i) instanceof Operand.SpecialRegister(String name, String which) && (name.equals("%tid") || name.equals("%ntid"))
                    && (component == null || component.equals(which))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isThread(Operand operand, String which) {
        return operand instanceof Operand.SpecialRegister(String name, String _) && name.equals(which);
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
        for (Statement statement : block.statements()) {
            boolean reads = switch (statement) {
                case Instruction instruction -> namesThread(instruction, component);
                default -> false;
            };
            if (reads) {
                return true;
            }
        }
        return false;
    }

    /** Whether some limits would bound what an instruction reads. */
    static boolean mayBeLimited(Instruction instruction) {
        return source(instruction).isPresent() || isRead(instruction) && isThread(instruction.operands().get(1), "%tid")
                || isBlock(instruction);
    }

    /** Whether an instruction does nothing but read {@link #BLOCK}. */
    static boolean isBlock(Instruction instruction) {
        return isRead(instruction) && instruction.operands().get(1).equals(BLOCK);
    }

    /** The greatest number that an instruction of a kernel reads in a second body with these limits, if that bounds it. */
    static Optional<Long> limit(Instruction instruction, BodyLimits limits) {
        Operand source = isBlock(instruction) ? BLOCK : source(instruction).orElse(null);
        for (BodyLimits.Limit limit : source == null ? List.<BodyLimits.Limit>of() : limits.all()) {
            if (limit.source().equals(source)) {
                return Optional.of(limit.most());
            }
        }
        boolean thread = limits.block() != null && isRead(instruction) && isThread(instruction.operands().get(1), "%tid");
        int threads = thread ? threads(instruction, limits.block()) : 0;
        return threads == 0 ? Optional.empty() : Optional.of(threads - 1L);
    }

    /** The kernel with two bodies. */
    static PtxFunction write(PtxFunction kernel, BodyLimits limits) {
        Block body = kernel.body().orElseThrow();
        Set<String> taken = new HashSet<>();
        names(body, taken);
        String prefix = PREFIX;
        for (int i = 0; !isFree(prefix, taken); i++) {
            prefix = PREFIX + i;
        }
        List<Statement> whole = new ArrayList<>();
        body.statements().stream().filter(TwoBodies::isDeclaration).forEach(whole::add);
        Operand.Symbol any = new Operand.Symbol("$" + prefix + ANY, 0);
        Map<Operand, Operand.Register> limited = choose(whole, limits, prefix, any);
        Map<String, String> labels = new HashMap<>();
        labels(body, "$" + prefix + "_", labels);
        whole.addAll(new Copy(limits, limited, labels).block(body).statements().stream().filter(statement -> !isDeclaration(statement))
                .toList());
        whole.add(new Instruction(Optional.empty(), "ret", List.of(), List.of(), 0));
        whole.add(new Label(any.name(), 0));
        body.statements().stream().filter(statement -> !isDeclaration(statement)).forEach(whole::add);
        return new PtxFunction(kernel.kind(), kernel.linkage(), kernel.name(), kernel.returns(), kernel.parameters(),
                kernel.attributes(), Optional.of(new Block(whole, body.line())), kernel.line());
    }

    private static void declare(List<Statement> into, ScalarType type, Operand.Register register) {
        into.add(new RegisterDeclaration(type, register.name().substring(0, register.name().length() - 1), 1, 0));
    }

    /**
     * Reads what has limits, and goes to the other body where one is exceeded. The second body uses the registers that were compared, of
     * which proofs know the bounds; the assembler sees the plain reads.
     */
    private static Map<Operand, Operand.Register> choose(List<Statement> into, BodyLimits limits, String prefix, Operand.Symbol any) {
        Map<Operand, Operand.Register> limited = new HashMap<>();
        Operand.Register larger = new Operand.Register("%" + prefix + "_p0");
        declare(into, ScalarType.PRED, larger);
        List<BodyLimits.Limit> all = limits.all();
        for (BodyLimits.Limit limit : all) {
            Operand.Register value = new Operand.Register("%" + prefix + "_" + limited.size() + "_0");
            declare(into, limit.bits() == Long.SIZE ? ScalarType.B64 : ScalarType.B32, value);
            limited.put(limit.source(), value);
        }
        for (int first = 0; first < all.size(); first += AT_ONCE) {
            List<BodyLimits.Limit> some = all.subList(first, Math.min(all.size(), first + AT_ONCE));
            for (BodyLimits.Limit limit : some) {
                String type = limit.bits() == Long.SIZE ? "u64" : "u32";
                into.add(limit.source() instanceof Operand.Address
                        ? plain("ld", List.of("param", type), List.of(limited.get(limit.source()), limit.source()))
                        : plain("mov", List.of(type), List.of(limited.get(limit.source()), limit.source())));
            }
            for (int i = 0; i < some.size(); i++) {
                String type = some.get(i).bits() == Long.SIZE ? "u64" : "u32";
                Operand.Register value = limited.get(some.get(i).source());
                Operand.Immediate most = Code.number(some.get(i).most());
                into.add(i == 0 ? plain("setp", List.of("gt", type), List.of(larger, value, most))
                        : plain("setp", List.of("gt", "or", type), List.of(larger, value, most, larger)));
            }
            into.add(new Instruction(Optional.of(new Guard(larger, false)), "bra", List.of(), List.of(any), 0));
        }
        return limited;
    }

    private static Instruction plain(String opcode, List<String> modifiers, List<Operand> operands) {
        return new Instruction(Optional.empty(), opcode, modifiers, operands, 0);
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
                case RegisterDeclaration declaration -> into.add(declaration.prefix());
                default -> {}
            }
        }
    }

    private static void labels(Block block, String prefix, Map<String, String> into) {
        for (Statement statement : block.statements()) {
            if (statement instanceof Label label) {
                into.put(label.name(), prefix + label.name().replace('%', '_'));
            }
        }
    }

    /** Writes the second body. */
    private record Copy(BodyLimits limits, Map<Operand, Operand.Register> limited, Map<String, String> labels) {
        private Block block(Block block) {
            List<Statement> copied = new ArrayList<>(block.statements().size());
            for (Statement statement : block.statements()) {
                switch (statement) {
                    case Label label -> copied.add(new Label(labels.get(label.name()), label.line()));
                    case Instruction instruction -> {
                        copied.add(instruction(instruction));
                        if (limits.block() != null && isRead(instruction) && isThread(instruction.operands().get(1), "%tid")) {
                            cut(instruction, limits.block()).ifPresent(copied::add);
                        }
                    }
                    default -> copied.add(statement);
                }
            }
            return new Block(copied, block.line());
        }

        private Instruction instruction(Instruction instruction) {
            Operand.Register read = source(instruction).map(limited::get).orElse(null);
            if (read != null) {
                return new Instruction(instruction.guard(), "mov", List.of(instruction.type().orElseThrow().bits() == Long.SIZE ? "b64" : "b32"),
                        List.of(instruction.operands().getFirst(), read), instruction.line());
            }
            List<Operand> operands = instruction.opcode().equals("bra") ? instruction.operands().stream().map(this::renamed).toList()
                    : instruction.operands();
            return new Instruction(instruction.guard(), instruction.opcode(), instruction.modifiers(), operands, instruction.line());
        }

        private Operand renamed(Operand operand) {
            return operand instanceof Operand.Symbol(String name, long offset) && labels.containsKey(name)
                    ? new Operand.Symbol(labels.get(name), offset) : operand;
        }
    }

    /** What an instruction does nothing but read, if it is an integer of a parameter or the size of a block or grid. */
    static Optional<Operand> source(Instruction instruction) {
        if (!instruction.opcode().equals("mov") && !instruction.opcode().equals("ld")) {
            return Optional.empty();
        }
        boolean plain = instruction.operands().size() == 2 && instruction.operands().getFirst() instanceof Operand.Register
                && instruction.type().filter(type -> type.kind() != ScalarType.Kind.FLOAT && type.bits() >= Integer.SIZE
                        && type.bits() <= Long.SIZE).isPresent();
        Operand from = plain ? instruction.operands().get(1) : null;
        boolean size = plain && instruction.opcode().equals("mov") && instruction.type().get().bits() == Integer.SIZE
                && from instanceof Operand.SpecialRegister(String name, String _) && (name.equals("%ntid") || name.equals("%nctaid"));
        boolean parameter = plain && instruction.opcode().equals("ld") && instruction.modifiers().size() == 2 && instruction.has("param")
                && from instanceof Operand.Address(Operand.Named _, long _);
        return size || parameter ? Optional.of(from) : Optional.empty();
    }

    /** What was read is at most this in blocks of the size. */
    private static Optional<Instruction> cut(Instruction read, BodyLimits.BlockSize size) {
        int threads = threads(read, size);
        Operand register = read.operands().getFirst();
        return threads == 0 ? Optional.empty() : Optional.of(new Instruction(Optional.empty(), "min", List.of("u32"),
                List.of(register, register, Code.number(threads - 1)), read.line()));
    }

    /** Threads of a block in the dimension that an instruction reads; 0: any. */
    private static int threads(Instruction read, BodyLimits.BlockSize size) {
        return ((Operand.SpecialRegister) read.operands().get(1)).component().equals("x") ? size.x() : size.y();
    }
}
