/** LAUNCH records: the hot path from a ring to a kernel. */
package io.tessera.executor.launch;
