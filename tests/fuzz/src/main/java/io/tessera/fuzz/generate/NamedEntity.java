package io.tessera.fuzz.generate;

/**
 * A register, variable, label or function of a generated module. It has two names: the one that its scope gives it, which others may have too, and
 * one that nothing else in the module has. Compared by identity.
 */
final class NamedEntity {
    private final String scoped;
    private final String flat;
    private final RegisterWidth width;

    /**
     * Names it.
     *
     * @param scoped its name in the text with scopes
     * @param flat   its name in the text without
     * @param width  of a register, else null
     */
    NamedEntity(String scoped, String flat, RegisterWidth width) {
        this.scoped = scoped;
        this.flat = flat;
        this.width = width;
    }

    String scoped() {
        return scoped;
    }

    String flat() {
        return flat;
    }

    /** The width of a register, else null. */
    RegisterWidth width() {
        return width;
    }
}
