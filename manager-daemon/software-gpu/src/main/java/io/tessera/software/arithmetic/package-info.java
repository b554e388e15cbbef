/**
 * The computations of PTX instructions, as static pure functions: no state, no memory, no knowledge of programs. The interpreter and the compiler both call
 * these, so that their results are equal bit by bit.
 *
 * <p>Representation: {@code .f32} and {@code .f64} are Java's {@code float} and {@code double}; {@code .f16}, {@code .bf16} and integers of 16 bits are the low
 * 16 bits of an {@code int} (higher bits are ignored on the way in, zero on the way out unless a function says otherwise); 32 and 64 bit integers are
 * {@code int} and {@code long}, signed or not. All functions are thread-safe. They follow the PTX ISA 9.0; where it leaves a result open, they do what NVIDIA's
 * hardware does, and the function says so.
 *
 * <p>Read first: {@link io.tessera.software.arithmetic.Rounding}, {@link io.tessera.software.arithmetic.BinaryFormat},
 * {@link io.tessera.software.arithmetic.SingleArithmetic}.
 */
package io.tessera.software.arithmetic;
