/**
 * {@link io.tessera.guardian.state.StateStore} on Chronicle Map: {@link io.tessera.state.ChronicleStateStore}, and {@link
 * io.tessera.state.StateStoreChoice}, which takes a plain file where Chronicle Map cannot run.
 */
package io.tessera.state;
