/** Fences a whole module; start with {@link io.tessera.guardian.fence.module.Fencer}. */
package io.tessera.guardian.fence.module;
