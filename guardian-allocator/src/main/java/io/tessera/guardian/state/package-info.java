/**
 * State that a daemon keeps between its runs and may lose: small records by key, in a {@link io.tessera.guardian.state.StateStore}. {@link
 * io.tessera.guardian.state.BoundsTable} keeps the windows in such a store.
 */
package io.tessera.guardian.state;
