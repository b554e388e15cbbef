package io.tessera.autotalk.header;

import io.tessera.autotalk.input.InputException;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;
import io.tessera.autotalk.description.TypeName;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Translates C types into the description's, and collects the named ones. Not thread-safe. */
final class TypeTranslation {
    private final NavigableMap<String, NamedType> types = new TreeMap<>();

    private final Map<String, CType.Aggregate> aggregates = new HashMap<>();

    /** Returns the structure or union of a translated named type; null for other types. */
    CType.Aggregate aggregate(String name) {
        return aggregates.get(name);
    }

    /** Returns all named types translated so far. */
    NavigableMap<String, NamedType> types() {
        return types;
    }

    /** Returns the description's name for a type that is passed or returned. */
    TypeName translate(CType type, Token where) {
        List<Boolean> pointers = new ArrayList<>();
        CType at = type;
        boolean constant = false;
        while (true) {
            if (at instanceof CType.Const qualified) {
                constant = true;
                at = qualified.of();
            } else if (at instanceof CType.Pointer pointer && !(pointer.to() instanceof CType.Function)) {
                pointers.addFirst(constant);
                constant = false;
                at = pointer.to();
            } else {
                break;
            }
        }
        boolean baseConst = constant && !pointers.isEmpty();
        if (!pointers.isEmpty()) {
            pointers.set(pointers.size() - 1, false);
        }
        return new TypeName(name(at, where), baseConst, pointers);
    }

    private String name(CType type, Token where) {
        return switch (type) {
            case CType.Basic basic -> basic.spelling();
            case CType.Alias alias -> {
                types.putIfAbsent(alias.name(), named(alias.name(), alias.resolved(), where));
                remember(alias.name(), alias.resolved());
                yield alias.name();
            }
            case CType.Enumeration enumeration when !enumeration.tag().isEmpty() ->
                tagged("enum " + enumeration.tag(), type, where);
            case CType.Aggregate aggregate when !aggregate.tag().isEmpty() ->
                tagged((aggregate.union() ? "union " : "struct ") + aggregate.tag(), type, where);
            case CType.Pointer pointer when pointer.to() instanceof CType.Function -> tagged("function", type, where);
            default -> throw new InputException(where.file(), where.line(), "'" + where.text()
                    + "' has a parameter of a type that has no name here");
        };
    }

    private String tagged(String name, CType type, Token where) {
        types.putIfAbsent(name, named(name, type, where));
        remember(name, type);
        return name;
    }

    private void remember(String name, CType type) {
        if (type instanceof CType.Aggregate aggregate && aggregate.isComplete()) {
            aggregates.putIfAbsent(name, aggregate);
        }
    }

    private static NamedType named(String name, CType resolved, Token where) {
        return switch (resolved) {
            case CType.Basic basic when basic.bytes() == 0 -> new NamedType(name, TypeClass.VOID, 0, 0, "");
            case CType.Basic basic -> NamedType.number(name, basic.floating() ? TypeClass.FLOATING
                    : basic.signed() ? TypeClass.SIGNED : TypeClass.UNSIGNED, basic.bytes(), basic.spelling());
            case CType.Enumeration ignored -> new NamedType(name, TypeClass.ENUMERATION, Integer.BYTES, Integer.BYTES, "");
            case CType.Function ignored -> pointer(name, TypeClass.FUNCTION);
            case CType.Pointer pointer -> switch (pointer.to().resolved()) {
                case CType.Function ignored -> pointer(name, TypeClass.FUNCTION);
                case CType.Aggregate target when !target.isComplete() -> pointer(name, TypeClass.HANDLE);
                default -> pointer(name, TypeClass.ADDRESS);
            };
            case CType.Aggregate aggregate when aggregate.isComplete() -> new NamedType(name, TypeClass.VALUE,
                    (int) DataLayout.size(aggregate), DataLayout.alignment(aggregate),
                    DataLayout.argumentClass(aggregate));
            case CType.Aggregate ignored -> new NamedType(name, TypeClass.OPAQUE, 0, 0, "");
            default -> throw new InputException(where.file(), where.line(), "type '" + name
                    + "' cannot be a parameter's");
        };
    }

    private static NamedType pointer(String name, TypeClass typeClass) {
        return new NamedType(name, typeClass, NamedType.POINTER_BYTES, NamedType.POINTER_BYTES, "");
    }
}
