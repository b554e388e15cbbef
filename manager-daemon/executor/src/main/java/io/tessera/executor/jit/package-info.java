/** A driver's compiler and linker: options, text in, code out. In the executor they serve what is loaded, in a worker what is made. */
package io.tessera.executor.jit;
