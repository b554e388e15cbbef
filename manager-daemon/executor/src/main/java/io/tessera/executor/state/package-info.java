/** State that the executor writes to disk for other processes to read. */
package io.tessera.executor.state;
