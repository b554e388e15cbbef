package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;

/**
 * A finding that is a failure, with the kernel that shows it.
 *
 * @param finding what is wrong
 * @param kernel  the smallest kernel with the same fault
 */
public record Failure(KernelFinding finding, GeneratedKernel kernel) {
}
