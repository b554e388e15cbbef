/**
 * Autotalk: reads a driver's C header into Tessera's own description of the driver, joins it with hand-written
 * annotations, and generates the C side of the preload library and its coverage table from the two.
 *
 * <p>{@link io.tessera.autotalk.Autotalk} is the command line; the work is done in the packages below. Nothing here
 * runs when a CUDA program runs.
 */
package io.tessera.autotalk;
