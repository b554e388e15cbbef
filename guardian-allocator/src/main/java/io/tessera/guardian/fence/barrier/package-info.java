/** Barriers of a block and mbarriers: finds them, and writes mbarriers as ordinary memory operations. */
package io.tessera.guardian.fence.barrier;
