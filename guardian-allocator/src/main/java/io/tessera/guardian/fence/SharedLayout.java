package io.tessera.guardian.fence;

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
 * Aligns shared variables so that what is proved about their addresses is no less than what NVIDIA's assembler sees by itself, which
 * knows where it puts them: it joins neighbouring accesses that are aligned. Stateless.
 */
final class SharedLayout {
    private static final int BYTES = 16;

    private SharedLayout() {
    }

    /** The module with its own shared variables aligned to 16 bytes where their size is a multiple of that. */
    static PtxModule aligned(PtxModule module) {
        List<Directive> directives = module.directives().stream().map(SharedLayout::aligned).toList();
        return new PtxModule(module.version(), module.targets(), module.addressBits(), directives);
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
        boolean declares = statements.stream().anyMatch(each -> each instanceof Variable || each instanceof Block);
        return !declares ? block : new Block(statements.stream().map(SharedLayout::aligned).toList(), block.line());
    }

    private static Statement aligned(Statement statement) {
        return switch (statement) {
            case Variable variable -> aligned(variable);
            case Block block -> aligned(block);
            default -> statement;
        };
    }

    private static Variable aligned(Variable v) {
        boolean raise = v.space() == StateSpace.SHARED && v.linkage() == Linkage.INTERNAL && v.alignment() < BYTES
                && v.sizeBytes() > 0 && v.sizeBytes() % BYTES == 0;
        return !raise ? v : new Variable(v.linkage(), v.space(), BYTES, v.type(), v.vectorLength(), v.name(),
                v.dimensions(), v.initializer(), v.pointer(), v.attributes(), v.line());
    }
}
