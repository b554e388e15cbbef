/** Code: modules, libraries, kernels and the JIT's linker. */
package io.tessera.executor.call.module;
