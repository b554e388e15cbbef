/**
 * State that a daemon keeps between its starts and may lose: small records by key, behind {@link io.tessera.guardian.state.StateStore}.
 * {@link io.tessera.guardian.state.BoundsTable} keeps the windows in one.
 */
package io.tessera.guardian.state;
