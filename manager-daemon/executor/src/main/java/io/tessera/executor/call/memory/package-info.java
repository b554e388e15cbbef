/** Memory: allocations, pools, mappings, copies, tensor maps and IPC handles. */
package io.tessera.executor.call.memory;
