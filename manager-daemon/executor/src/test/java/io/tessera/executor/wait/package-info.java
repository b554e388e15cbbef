/** Tests of the bounded waits. */
package io.tessera.executor.wait;
