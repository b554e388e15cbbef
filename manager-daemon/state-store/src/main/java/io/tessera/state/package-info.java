/**
 * {@link io.tessera.guardian.state.StateStore} on Chronicle Map: {@link io.tessera.state.ChronicleStateStore}, and the
 * service by which daemons find it.
 */
package io.tessera.state;
