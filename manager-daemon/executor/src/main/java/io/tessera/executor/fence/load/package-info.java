/**
 * Programs as modules of the driver: loaded, filled with their constants, and unloaded.
 *
 * <p>{@link io.tessera.executor.fence.load.ProgramLoader} comes first.
 */
package io.tessera.executor.fence.load;
