/** Generation of kernels from seeds. */
package io.tessera.fuzz.generate;
