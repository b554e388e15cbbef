/** A driver's compiler and linker. The executor uses them to load code, and a worker to make it. */
package io.tessera.executor.jit;
