/**
 * Compiles lowered kernels to JVM bytecode. Each kernel becomes one method that runs threads, each until it stops: PTX
 * registers are locals, typed by how they are used; at a stop (barrier, warp operation, used-up budget) the live ones
 * are saved in the thread's state. Calls are inlined. The results of instructions come from {@code io.tessera.software.arithmetic}, so the
 * interpreter's results are the same.
 *
 * <p>Read first: {@link io.tessera.software.compile.KernelCompiler}, {@code FlatCode}, {@code KernelWriter}; then the
 * emitter of the subject. Kernels that are not compiled (indirect calls, recursion, rare instructions) run in the interpreter and are
 * counted ({@link io.tessera.software.compile.CompilationCounters}).
 */
package io.tessera.software.compile;
