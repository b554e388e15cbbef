package io.tessera.autotalk.marshal;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.Space;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.EntryParameter;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.ParameterDirection;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.description.TypeName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Joins the header's facts about parameters with those of the annotations; the relay port's annotations take precedence.
 *
 * <p>Without an annotation, a pointer to const is an input, and any other pointer an output: the driver API writes
 * results through such pointers, and the previous content is not initialised. A pointer that an extent of the same entry dereferences
 * ({@code *NAME}) has both directions. Other parameters are annotated {@code inout}.
 */
public final class Marshalling {
    private final Decisions decisions;
    private final Description description;

    /** Creates the marshalling of one library. */
    public Marshalling(Decisions decisions) {
        this.decisions = decisions;
        this.description = decisions.description();
    }

    /** Returns the arguments of an entry in order; empty: its parameters are unknown. */
    public Optional<List<Argument>> arguments(Entry entry) {
        return entry.signature().map(signature -> {
            List<Argument> arguments = new ArrayList<>();
            for (int i = 0; i < signature.parameters().size(); i++) {
                arguments.add(argument(entry, signature.parameters(), i));
            }
            return List.copyOf(arguments);
        });
    }

    private Argument argument(Entry entry, List<EntryParameter> parameters, int index) {
        EntryParameter parameter = parameters.get(index);
        NamedType type = description.type(parameter.type().base()).orElseThrow();
        Optional<ParameterRule> fact = decisions.relayFact(entry, parameter);
        boolean value = fact.flatMap(ParameterRule::space).filter(Space.VALUE::equals).isPresent();
        Argument.Shape shape = parameter.type().isPointer()
                ? value ? new Argument.Opaque(false) : pointer(entry, parameters, index, fact) : plain(type);
        return new Argument(parameter.name(), type, shape);
    }

    private static Argument.Shape plain(NamedType type) {
        Optional<HandleType> kind = HandleType.ofType(type.name());
        if (kind.isPresent()) {
            return new Argument.Handle(kind.get());
        }
        return switch (type.typeClass()) {
            case HANDLE -> new Argument.Handle(HandleType.FOREIGN);
            case ADDRESS -> new Argument.Opaque(false);
            case FUNCTION -> new Argument.Opaque(true);
            case VALUE -> new Argument.Structure();
            default -> new Argument.Number(type.passing());
        };
    }

    private Argument.Pointer pointer(Entry entry, List<EntryParameter> parameters, int index, Optional<ParameterRule> fact) {
        EntryParameter parameter = parameters.get(index);
        TypeName target = parameter.type().target();
        NamedType type = description.type(target.base()).orElseThrow();
        boolean bytes = !target.isPointer() && (type.typeClass() == TypeClass.VOID || type.name().equals("char"));
        PointerExtent extent = fact.flatMap(ParameterRule::extent).map(text -> PointerExtent.parse(text, parameters))
                .orElse(bytes || type.typeClass() == TypeClass.OPAQUE ? new PointerExtent.Handwritten("")
                        : new PointerExtent.Constant(1));
        Optional<HandleType> element = target.isPointer() ? Optional.empty() : elementKind(type);
        int size = target.isPointer() ? NamedType.POINTER_BYTES : Math.max(1, type.bytes());
        return new Argument.Pointer(size, target.isPointer(), element,
                direction(entry, parameters, index, fact), extent);
    }

    private static Optional<HandleType> elementKind(NamedType type) {
        Optional<HandleType> kind = HandleType.ofType(type.name());
        return kind.isEmpty() && type.typeClass() == TypeClass.HANDLE ? Optional.of(HandleType.FOREIGN) : kind;
    }

    private ParameterDirection direction(Entry entry, List<EntryParameter> parameters, int index, Optional<ParameterRule> fact) {
        Optional<ParameterDirection> told = fact.flatMap(ParameterRule::direction);
        if (told.isPresent()) {
            return told.get();
        }
        if (parameters.get(index).direction() == ParameterDirection.IN) {
            return ParameterDirection.IN;
        }
        boolean counted = IntStream.range(0, parameters.size()).mapToObj(parameters::get)
                .flatMap(other -> decisions.relayFact(entry, other).flatMap(ParameterRule::extent).stream())
                .anyMatch(text -> PointerExtent.parse(text, parameters).equals(new PointerExtent.Behind(index)));
        return counted ? ParameterDirection.INOUT : ParameterDirection.OUT;
    }
}
