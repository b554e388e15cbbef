/**
 * Programs as modules of the driver: loaded, filled with what they have to know, and given back.
 *
 * <p>{@link io.tessera.executor.fence.load.ProgramLoader} comes first.
 */
package io.tessera.executor.fence.load;
