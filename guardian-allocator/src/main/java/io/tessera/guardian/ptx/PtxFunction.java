package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * {@code .entry} or {@code .func}. Immutable.
 *
 * @param kind       kernel or function
 * @param linkage its visibility
 * @param name       its name
 * @param returns    return parameters, of a function only
 * @param parameters in order
 * @param attributes directives between the head and the body, in order
 * @param body       empty for a declaration
 * @param line       as in {@link Directive}
 */
public record PtxFunction(Kind kind, Linkage linkage, String name, List<Variable> returns, List<Variable> parameters,
        List<FunctionAttribute> attributes, Optional<Block> body, int line) implements Directive {
    /** Whether a function can be launched or called. */
    public enum Kind {
        /** A kernel. */
        ENTRY,
        /** A device function. */
        FUNC
    }

    /** Copies the lists. */
    public PtxFunction {
        returns = List.copyOf(returns);
        parameters = List.copyOf(parameters);
        attributes = List.copyOf(attributes);
    }

    /** The first attribute of that name, for instance {@code reqntid}. */
    public Optional<FunctionAttribute> attribute(String attributeName) {
        return attributes.stream().filter(a -> a.name().equals(attributeName)).findFirst();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PtxFunction that && kind == that.kind && linkage == that.linkage
                && name.equals(that.name) && returns.equals(that.returns) && parameters.equals(that.parameters)
                && attributes.equals(that.attributes) && body.equals(that.body);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, linkage, name, returns, parameters, attributes, body);
    }
}
