/** Verifies a whole module; start with {@link io.tessera.guardian.verify.module.FenceVerifier}. */
package io.tessera.guardian.verify.module;
