package io.tessera.guardian.fence.variable;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.List;
import java.util.Optional;

/**
 * Aligns shared variables, so that the proved alignment of their addresses is at least the alignment that NVIDIA's assembler knows. The assembler
 * places the variables and joins aligned neighbouring accesses. Also computes the size of shared variables. Constants are aligned likewise: programs
 * read constant arrays by vectors, whatever alignment they declare, and a driver aligns each bank. Stateless.
 */
public final class SharedLayout {
    private static final int BYTES = 16;
    /** Size up to which a module's constants are aligned, including the padding: a bank has 64 KiB, of which fences need some. */
    private static final long MOST_CONSTANT_BYTES = 60 << 10;

    private SharedLayout() {
    }

    /** The module with its own shared variables, and its constants, aligned to 16 bytes where their size is a multiple of that. */
    public static PtxModule aligned(PtxModule module) {
        long constants = module.directives().stream()
                .mapToLong(directive -> directive instanceof Variable variable && variable.space() == StateSpace.CONST ? variable.sizeBytes() + BYTES
                        : 0)
                .sum();
        List<Directive> directives = module.directives().stream().map(SharedLayout::aligned)
                .map(directive -> constants <= MOST_CONSTANT_BYTES && directive instanceof Variable variable ? raised(variable, StateSpace.CONST)
                        : directive)
                .toList();
        return new PtxModule(module.version(), module.targets(), module.addressBits(), directives);
    }

    /**
     * Returns an upper bound of the size of a kernel's own variables, including padding for alignment; those of device functions count for all
     * kernels.
     */
    public static long mostBytes(PtxModule module) {
        long shared = 0;
        long most = 0;
        for (Directive directive : module.directives()) {
            switch (directive) {
                case Variable variable -> shared += bytes(variable);
                case PtxFunction f when f.body().isPresent() -> {
                    long own = bytes(f.body().get());
                    shared += f.kind() == PtxFunction.Kind.FUNC ? own : 0;
                    most = f.kind() == PtxFunction.Kind.FUNC ? most : Math.max(most, own);
                }
                default -> {}
            }
        }
        return shared + most;
    }

    private static long bytes(Block block) {
        return block.statements().stream().mapToLong(statement -> switch (statement) {
            case Variable variable -> bytes(variable);
            default -> 0;
        }).sum();
    }

    private static long bytes(Variable variable) {
        boolean own = variable.space() == StateSpace.SHARED && !variable.dimensions().contains(Variable.UNSIZED);
        return own ? variable.sizeBytes() + Math.max(BYTES, variable.alignment()) : 0;
    }

    private static Directive aligned(Directive directive) {
        return switch (directive) {
            case Variable variable -> aligned(variable);
            case PtxFunction f when f.body().isPresent() -> new PtxFunction(f.kind(), f.linkage(), f.name(), f.returns(),
                    f.parameters(), f.attributes(), Optional.of(aligned(f.body().get())), f.line());
            default -> directive;
        };
    }

    private static Block aligned(Block block) {
        List<Statement> statements = block.statements();
        boolean declares = statements.stream().anyMatch(each -> each instanceof Variable);
        return !declares ? block : new Block(statements.stream().map(SharedLayout::aligned).toList(), block.line());
    }

    private static Statement aligned(Statement statement) {
        return statement instanceof Variable variable ? aligned(variable) : statement;
    }

    private static Variable aligned(Variable v) {
        return v.linkage() == Linkage.INTERNAL ? raised(v, StateSpace.SHARED) : v;
    }

    private static Variable raised(Variable v, StateSpace space) {
        boolean raise = v.space() == space && v.alignment() < BYTES && v.sizeBytes() > 0 && v.sizeBytes() % BYTES == 0;
        return !raise ? v : new Variable(v.linkage(), v.space(), BYTES, v.type(), v.vectorLength(), v.name(),
                v.dimensions(), v.initializer(), v.pointer(), v.attributes(), v.line());
    }
}
