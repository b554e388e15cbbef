/** Tests of what clients have in memory. */
package io.tessera.executor.memory;
