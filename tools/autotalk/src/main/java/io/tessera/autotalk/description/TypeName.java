package io.tessera.autotalk.description;

import java.util.ArrayList;
import java.util.List;

/**
 * The type of a parameter: a named type, and the pointers to it.
 *
 * @param base      name of the type at the end of the pointers
 * @param baseConst whether that type is {@code const}
 * @param pointers  one for each pointer, innermost first: whether that pointer itself is {@code const}
 */
public record TypeName(String base, boolean baseConst, List<Boolean> pointers) {
    /** Copies the list. */
    public TypeName {
        pointers = List.copyOf(pointers);
    }

    /** Parses the form that {@link #toString} writes. */
    public static TypeName parse(String text) {
        String rest = text.strip();
        boolean baseConst = rest.startsWith("const ");
        rest = baseConst ? rest.substring("const ".length()) : rest;
        int star = rest.indexOf('*');
        String base = (star < 0 ? rest : rest.substring(0, star)).strip();
        List<Boolean> pointers = new ArrayList<>();
        String stars = star < 0 ? "" : rest.substring(star).replace(" ", "");
        while (!stars.isEmpty()) {
            boolean constant = stars.startsWith("*const");
            if (!stars.startsWith("*")) {
                throw new IllegalArgumentException("'" + text + "' is not a type");
            }
            pointers.add(constant);
            stars = stars.substring(constant ? "*const".length() : 1);
        }
        return new TypeName(base, baseConst, pointers);
    }

    /** Returns whether this is a pointer, other than a named type that hides one. */
    public boolean isPointer() {
        return !pointers.isEmpty();
    }

    /** Returns the type to which the outermost pointer points. */
    public TypeName target() {
        return new TypeName(base, baseConst, pointers.subList(0, pointers.size() - 1));
    }

    /** Returns whether the type to which the outermost pointer points is {@code const}. */
    public boolean targetConst() {
        return pointers.size() == 1 ? baseConst : pointers.size() > 1 && pointers.get(pointers.size() - 2);
    }

    /** Returns the type in C's notation, without blanks before the stars: {@code const void*const*}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(baseConst ? "const " : "").append(base);
        pointers.forEach(constant -> text.append(constant ? "*const" : "*"));
        return text.toString();
    }
}
