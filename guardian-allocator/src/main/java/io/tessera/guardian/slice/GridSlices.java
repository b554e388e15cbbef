package io.tessera.guardian.slice;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.FunctionAttribute;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Rewrites a kernel so that a launch executes a part of its grid. The kernel gets six more parameters, each a {@code .u32}, at the end: the number of the
 * part's first block in x, y and z, and the size of the whole grid in x, y and z. Where it reads the number of its block, the first block's is added;
 * where it reads the size of its grid, it gets the whole's. So each block runs as it would in one launch of the whole grid. Whether the blocks of a grid
 * wait for each other is not looked at here. Stateless.
 */
public final class GridSlices {
    /** Length of the parameters that are added, in bytes. They begin at the next multiple of 4 behind the kernel's own. */
    public static final int PARAMETER_BYTES = 6 * Integer.BYTES;

    private static final String COMPONENTS = "xyz";
    /** The parser gives registers and parameters names of its own, none of which are these. */
    private static final String REGISTER = "%first_block_";
    private static final List<String> NAMES = List.of("$first_x", "$first_y", "$first_z", "$grid_x", "$grid_y", "$grid_z");
    /** A block that reads one of these would see that it is in a part. Cooperative groups keep what a grid shares in {@code %envreg}. */
    private static final List<String> SEEN = List.of("%ctaid", "%nctaid", "%gridid", "%clusterid", "%nclusterid", "%cluster_", "%is_explicit_cluster",
            "%envreg");
    private static final Set<String> CLUSTERS = Set.of("reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters");
    /** Instructions by which blocks or grids depend on each other; the message of an assertion names the block. */
    private static final Set<String> TOGETHER = Set.of("griddepcontrol", "mapa", "getctarank", "clusterlaunchcontrol");
    private static final String ASSERTION = "__assertfail";

    private GridSlices() {
    }

    /**
     * The module with one kernel, which executes a part of its grid; other kernels are left out.
     *
     * @param name the kernel
     * @throws FenceRefusedException if the kernel is not there, or not all that it does is the same in parts
     */
    public static PtxModule of(PtxModule module, String name) throws FenceRefusedException {
        PtxFunction kernel = module.entry(name)
                .orElseThrow(() -> new FenceRefusedException(name, 0, "no kernel of the module has this name"));
        PtxFunction sliced = new Kernel(kernel).sliced();
        List<Directive> directives = new ArrayList<>();
        for (Directive directive : module.directives()) {
            if (directive instanceof Variable variable && NAMES.contains(variable.name())) {
                throw new FenceRefusedException(variable.name(), variable.line(), "the name is needed for a parameter");
            }
            if (!(directive instanceof PtxFunction function)) {
                directives.add(directive);
            } else if (function == kernel) {
                directives.add(sliced);
            } else if (function.kind() == PtxFunction.Kind.FUNC) {
                requireBlind(function);
                directives.add(function);
            }
        }
        return new PtxModule(module.version(), module.targets(), module.addressBits(), directives);
    }

    /** A function that kernels call has none of the added parameters. */
    private static void requireBlind(PtxFunction function) throws FenceRefusedException {
        for (Statement statement : function.body().map(Block::statements).orElse(List.of())) {
            if (statement instanceof Instruction instruction) {
                requireAlone(instruction);
                for (Operand operand : instruction.operands()) {
                    requireUnseen(instruction, operand);
                }
            }
        }
    }

    private static void requireAlone(Instruction instruction) throws FenceRefusedException {
        boolean asserts = instruction.opcode().equals("call")
                && instruction.operands().stream()
                        .anyMatch(operand -> operand instanceof Operand.Symbol(String callee, long _) && callee.equals(ASSERTION));
        if (TOGETHER.contains(instruction.opcode()) || instruction.has("cluster") || asserts) {
            throw new FenceRefusedException(instruction.mnemonic(), instruction.line(), "a grid with it is not launched in parts");
        }
    }

    private static void requireUnseen(Instruction instruction, Operand operand) throws FenceRefusedException {
        boolean sees = switch (operand) {
            case Operand.SpecialRegister special -> isSeen(special);
            case Operand.Vector vector ->
                vector.elements().stream().anyMatch(each -> each instanceof Operand.SpecialRegister special && isSeen(special));
            default -> false;
        };
        if (sees) {
            throw new FenceRefusedException(instruction.mnemonic(), instruction.line(), "it reads which block of which grid it is in");
        }
    }

    private static boolean isSeen(Operand.SpecialRegister special) {
        return SEEN.stream().anyMatch(special.name()::startsWith);
    }

    /** One kernel while it is rewritten. */
    private static final class Kernel {
        private final PtxFunction kernel;
        private final List<Statement> statements;
        private final List<Variable> parameters = new ArrayList<>();
        private final Operand.Register first;
        private final RegisterDeclaration declaration;

        Kernel(PtxFunction kernel) {
            this.kernel = kernel;
            this.statements = kernel.body().orElseThrow().statements();
            this.declaration = new RegisterDeclaration(ScalarType.B32, REGISTER, 1, kernel.line());
            this.first = new Operand.Register(REGISTER + 0);
            for (String name : NAMES) {
                parameters.add(
                        new Variable(Linkage.INTERNAL, StateSpace.PARAM, 0, ScalarType.U32, 1, name, List.of(), Optional.empty(), Optional.empty(),
                                List.of(), kernel.line()));
            }
        }

        PtxFunction sliced() throws FenceRefusedException {
            for (FunctionAttribute attribute : kernel.attributes()) {
                if (CLUSTERS.contains(attribute.name())) {
                    throw new FenceRefusedException("." + attribute.name(), kernel.line(), "a grid of clusters is not launched in parts");
                }
            }
            List<Statement> all = new ArrayList<>(List.of(declaration));
            for (Statement statement : statements) {
                if (statement instanceof Instruction instruction) {
                    add(instruction, all);
                } else {
                    all.add(statement);
                }
            }
            List<Variable> with = new ArrayList<>(kernel.parameters());
            with.addAll(parameters);
            return new PtxFunction(kernel.kind(), kernel.linkage(), kernel.name(), kernel.returns(), with, kernel.attributes(),
                    Optional.of(new Block(all, kernel.body().orElseThrow().line())), kernel.line());
        }

        private void add(Instruction instruction, List<Statement> all) throws FenceRefusedException {
            requireAlone(instruction);
            boolean moves = instruction.opcode().equals("mov") && instruction.operands().size() == 2
                    && instruction.operands().get(0) instanceof Operand.Register
                    && instruction.type().map(ScalarType::bytes).orElse(0) == Integer.BYTES;
            if (moves && instruction.operands().get(1) instanceof Operand.SpecialRegister(String name, String component)
                    && component.length() == 1 && COMPONENTS.contains(component)) {
                int dimension = COMPONENTS.indexOf(component);
                Operand into = instruction.operands().getFirst();
                if (name.equals("%ctaid")) {
                    all.add(instruction);
                    all.add(load(instruction, first, dimension));
                    all.add(new Instruction(instruction.guard(), "add", List.of("u32"), List.of(into, into, first), instruction.line()));
                    return;
                }
                if (name.equals("%nctaid")) {
                    all.add(load(instruction, into, COMPONENTS.length() + dimension));
                    return;
                }
            }
            for (Operand operand : instruction.operands()) {
                requireUnseen(instruction, operand);
            }
            all.add(instruction);
        }

        private Instruction load(Instruction instead, Operand into, int parameter) {
            return new Instruction(instead.guard(), "ld", List.of("param", "u32"),
                    List.of(into, new Operand.Address(new Operand.Named(parameters.get(parameter).name()), 0)), instead.line());
        }
    }
}
