/**
 * The relay segment between a client and an executor, as RELAY.md describes it: the Java twin of {@code tessera_relay.h}.
 * Its messages are in {@link io.tessera.protocol}.
 */
package io.tessera.protocol.relay;
