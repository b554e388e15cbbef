/** Commands of the fuzzer of the fences. */
package io.tessera.fuzz;
