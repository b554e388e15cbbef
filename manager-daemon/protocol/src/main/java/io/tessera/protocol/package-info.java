/**
 * The contract between a client and the manager, as Java: the shared segment, the registration messages, the places
 * where both meet. {@code manager-daemon/protocol/SPEC.md} describes it in prose and outranks this code;
 * {@code native-preload/include/tessera_abi.h} is its C twin, and a parity test compares the two.
 *
 * <p>JDK only. Nothing here decides anything: views read and write words, adapters check bytes before they hand on
 * fields, readers map files.
 */
package io.tessera.protocol;
