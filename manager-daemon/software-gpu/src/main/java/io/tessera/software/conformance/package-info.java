/**
 * PTX conformance: generated programs, one per instruction, type and rounding, with inputs and what the interpreter
 * makes of them. The same cases hold compiled kernels against the interpreter, and the software GPU against an NVIDIA
 * GPU. {@link io.tessera.software.conformance.ConformanceSuite} is the entry; the {@code *Forms} classes list
 * instructions by subject.
 */
package io.tessera.software.conformance;
