/**
 * The contract between a client and the manager, as Java: the shared segment, the registration messages, and the paths at which both meet. {@code
 * manager-daemon/protocol/SPEC.md} describes it in prose and takes precedence over this code; {@code native-preload/include/tessera_abi.h} is its C
 * twin, and a parity test compares the two.
 *
 * <p>JDK only. There is no policy here: views read and write words, adapters check bytes before they pass fields on, readers map files.
 */
package io.tessera.protocol;
