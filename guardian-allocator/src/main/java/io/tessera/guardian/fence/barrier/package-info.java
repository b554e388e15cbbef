/** Barriers of a block and mbarriers: which there are, and mbarriers written as ordinary memory operations. */
package io.tessera.guardian.fence.barrier;
