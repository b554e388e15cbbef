/** Tests of what kernels print. */
package io.tessera.executor.print;
