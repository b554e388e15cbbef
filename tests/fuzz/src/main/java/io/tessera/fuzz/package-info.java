/** The fuzzer of the fences: its commands. */
package io.tessera.fuzz;
