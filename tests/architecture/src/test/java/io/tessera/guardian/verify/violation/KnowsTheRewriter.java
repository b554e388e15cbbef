package io.tessera.guardian.verify.violation;

import io.tessera.guardian.fence.module.Fencer;

/** A verifier that asks the rewriter. */
public final class KnowsTheRewriter {
    private KnowsTheRewriter() {
    }

    /** What it must not ask. */
    public static int version() {
        return Fencer.class.getName().length();
    }
}
