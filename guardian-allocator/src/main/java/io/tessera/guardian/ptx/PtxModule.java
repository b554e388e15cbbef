package io.tessera.guardian.ptx;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A PTX module. Immutable; equality passes over line numbers.
 *
 * @param version     its {@code .version}
 * @param targets     its {@code .target} list in order: {@code sm_90a}, {@code debug}, {@code texmode_independent}
 * @param addressBits 32 or 64
 * @param directives  what it declares, in order
 */
public record PtxModule(PtxVersion version, List<String> targets, int addressBits, List<Directive> directives) {
    /** Copies the lists. */
    public PtxModule {
        targets = List.copyOf(targets);
        directives = List.copyOf(directives);
    }

    /** Its functions in order, declarations included. */
    public List<PtxFunction> functions() {
        return of(PtxFunction.class);
    }

    /** Its variables in order, declarations included. */
    public List<Variable> variables() {
        return of(Variable.class);
    }

    /** The kernel of that name that has a body. */
    public Optional<PtxFunction> entry(String name) {
        return functions().stream().filter(f -> f.kind() == PtxFunction.Kind.ENTRY && f.body().isPresent()
                && f.name().equals(name)).findFirst();
    }

    private <T> List<T> of(Class<T> type) {
        List<T> found = new ArrayList<>();
        for (Directive directive : directives) {
            if (type.isInstance(directive)) {
                found.add(type.cast(directive));
            }
        }
        return found;
    }
}
