/**
 * PTX, NVIDIA's virtual instruction set, up to ISA 9.0: text to tree ({@link io.tessera.guardian.ptx.PtxModule}) and back. The tree preserves a
 * program's meaning, so printing it gives an equivalent module; only layout and comments are lost. The meaning of instructions is left to the code
 * that runs or rewrites them.
 *
 * <p>JDK only. Everything in the tree is immutable and may be shared between threads. Grammar and names follow NVIDIA's "Parallel Thread Execution
 * ISA", version 9.0.
 */
package io.tessera.guardian.ptx;
