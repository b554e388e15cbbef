/**
 * Writes the C side of the preload library from a description and its decisions: the table of the vendor's entries, the
 * jumps through it, wrappers for submissions and synchronisations, the hooks' prototypes and the export list. The output
 * is never committed. Everything here is stateless or immutable.
 */
package io.tessera.autotalk.generate;
