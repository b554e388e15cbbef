/**
 * Rewrites PTX so that a kernel can neither leave its tenant's window nor fault the context that it shares with others. This package has the types
 * that callers of the rewriter use to load its result.
 *
 * <p>Start with {@link io.tessera.guardian.fence.module.Fencer}, {@link io.tessera.guardian.fence.FencedModule} and {@link
 * io.tessera.guardian.fence.WindowConstants}. The module's README says what is guaranteed, and under which assumptions.
 */
package io.tessera.guardian.fence;
