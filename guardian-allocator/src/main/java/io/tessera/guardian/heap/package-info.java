/**
 * The allocator inside a window: {@link io.tessera.guardian.heap.WindowHeap} hands out offsets, {@link io.tessera.guardian.heap.CommitPort} commits
 * physical memory for them. One heap serves the window's device part, another one its host part.
 *
 * <p>JDK only, no thread, no clock. Nothing here touches the memory that it manages: all bookkeeping is in arrays of primitives on this side, so an
 * allocation makes no object.
 */
package io.tessera.guardian.heap;
