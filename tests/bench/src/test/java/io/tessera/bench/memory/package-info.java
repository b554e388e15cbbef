/** Tests of the traces: what is generated and what is read. */
package io.tessera.bench.memory;
