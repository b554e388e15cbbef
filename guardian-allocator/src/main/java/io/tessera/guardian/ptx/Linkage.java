package io.tessera.guardian.ptx;

/** Visibility of a variable or function (PTX ISA, "Linking Directives"). */
public enum Linkage {
    /** This module only: no linking directive. */
    INTERNAL(""),
    /** Defined elsewhere. */
    EXTERN("extern"),
    /** Defined here, seen by others. */
    VISIBLE("visible"),
    /** Defined here unless another module has a definition that is not weak. */
    WEAK("weak"),
    /** Defined in several modules, merged. */
    COMMON("common");

    private final String ptx;

    Linkage(String ptx) {
        this.ptx = ptx;
    }

    /** Name in PTX without the dot; empty for {@link #INTERNAL}. */
    public String ptx() {
        return ptx;
    }
}
