package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;

/**
 * {@code label: .callprototype (returns) _ (parameters)}: the signature of an indirect call. Immutable.
 *
 * @param name       the label
 * @param returns    what is returned; a name may be {@code _}
 * @param parameters in order; a name may be {@code _}
 * @param attributes {@code noreturn}, {@code abi_preserve} and the like, in order
 * @param line       as in {@link Statement}
 */
public record CallPrototype(String name, List<Variable> returns, List<Variable> parameters,
        List<FunctionAttribute> attributes, int line) implements Statement {
    /** Copies the lists. */
    public CallPrototype {
        returns = List.copyOf(returns);
        parameters = List.copyOf(parameters);
        attributes = List.copyOf(attributes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallPrototype that && name.equals(that.name) && returns.equals(that.returns)
                && parameters.equals(that.parameters) && attributes.equals(that.attributes);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, returns, parameters, attributes);
    }
}
